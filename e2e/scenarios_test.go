package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"windtunnel.dev/sim/kindcluster"
)

// The exit codes of `windtunnel run` that are not a verdict on the subject.
const (
	void    = 3
	skipped = 4
)

// kept is the name of the clusters that all scenarios share.
const kept = "e2e"

// The suite runs the scenarios of tier pr, which every pull request must pass, in real clusters.
var _ = Describe("scenarios", Label("scenarios"), Serial, Ordered, ContinueOnFailure, func() {
	AfterAll(func(ctx context.Context) {
		Expect(kindcluster.Forget(ctx, kept)).To(Succeed())
	}, NodeTimeout(time.Minute))

	files, err := filepath.Glob("../scenarios/*/*.yaml")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		if !bytes.Contains(text, []byte("\n  tier: pr\n")) {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "../scenarios/"), ".yaml")
		It(name, func(ctx context.Context) {
			code, said := runScenario(ctx, file)
			if code == void { // try once more, as `windtunnel ab` does
				code, said = runScenario(ctx, file)
			}
			AddReportEntry("output", said)
			switch code {
			case skipped:
				Skip(said)
			case void:
				Skip("void twice: the machine was too slow\n" + said)
			}
			Expect(code).To(BeZero(), "%s", said)
		}, NodeTimeout(10*time.Minute))
	}
})

func runScenario(ctx context.Context, file string) (code int, said string) {
	GinkgoHelper()
	out := filepath.Join("../runs/e2e", strings.TrimSuffix(filepath.Base(file), ".yaml")) // kept for inspection
	Expect(os.RemoveAll(out)).To(Succeed())
	command := exec.CommandContext(ctx, "../bin/windtunnel", "run", "--driver=kind", "--kind-image="+os.Getenv("KIND_IMAGE"), "--keep="+kept, "--out="+out, file)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		Fail(err.Error())
	}
	said = stdout.String()
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "windtunnel: ") { // other lines show progress
			said += line
		}
	}
	return command.ProcessState.ExitCode(), said
}
