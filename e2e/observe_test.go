package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/measure"
)

// An observation sees the changes that a concurrent churn makes.
var _ = Describe("windtunnel observe", Label("observe"), Serial, func() {
	It("agrees with the churn beside it", func(ctx context.Context) {
		kubeconfig := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		Expect(os.WriteFile(kubeconfig, []byte(here.Kubeconfig), 0o600)).To(Succeed())
		out := "../runs/e2e/observe" // kept for inspection
		Expect(os.RemoveAll(out)).To(Succeed())
		const services, rate, length = 4, 0.5, 75 * time.Second // the churn runs longer than the observation
		churn := windtunnel(ctx, "churn", "--kubeconfig", kubeconfig, "--namespace", "observed-churn", "--services", fmt.Sprint(services), "--ingresses", fmt.Sprint(services), "--pods", "2",
			"--kind", "rolling-update", "--rate", fmt.Sprint(rate), "--for", (length + time.Minute).String(), "--backends", backendImage, "--out", "", "--format", "json")
		Expect(churn.Start()).To(Succeed())
		Eventually(func(g Gomega) {
			got, err := ask(ctx, "svc-000.observed-churn.example", "/")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.service).To(Equal("observed-churn/svc-000"))
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
		before := here.reloads(ctx)
		arguments := []string{"observe", "--kubeconfig", kubeconfig, "--follow", "observed-churn", "--address", here.listener(ctx, "http").String(), "--bundled",
			"--ephemeral", backendImage, "--for", length.String(), "--out", out}
		for n := range services {
			arguments = append(arguments, "--host", fmt.Sprintf("svc-%03d.observed-churn.example", n))
		}
		observe := windtunnel(ctx, arguments...)
		said, err := observe.CombinedOutput()
		AddReportEntry("output", string(said))
		reloads := here.reloads(ctx) - before
		Expect(churn.Wait()).To(Succeed())
		if observe.ProcessState.ExitCode() == void {
			Skip("void: the machine was too slow\n" + string(said))
		}
		Expect(err).NotTo(HaveOccurred(), "%s", said)
		text, err := os.ReadFile(filepath.Join(out, "result.json"))
		Expect(err).NotTo(HaveOccurred())
		var result measure.Result
		Expect(json.Unmarshal(text, &result)).To(Succeed())
		Expect(result.Subjects).To(HaveLen(1))
		checkObserved(result.Subjects[0], rate*length.Seconds(), reloads)
	}, NodeTimeout(15*time.Minute))
})

func windtunnel(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "../bin/windtunnel", arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	return command
}

// checkObserved compares an observation with the changes that the churn made, and with the number of reloads
// that the controllers logged.
func checkObserved(s measure.Subject, changes float64, reloads int) {
	GinkgoHelper()
	Expect(s.Changes.Made).To(BeNumerically("~", changes, 4)) // includes changes during the settle time
	Expect(s.Changes.Converged).To(BeNumerically(">=", s.Changes.Made-s.Changes.Superseded-2), "the last ones may come too late")
	Expect(s.Requests.Failed).To(BeZero())
	Expect(s.Trouble).To(BeEmpty())
	Expect(s.Converge.Last.P50).To(BeNumerically("<", 10*time.Second))
	Expect(s.Reported.Controllers).To(BeNumerically(">=", 2))
	Expect(s.Reported.Reloads).To(Equal(reloads), "reloads that the controllers counted, and that they logged as Events")
	Expect(s.Reloads).To(Equal(s.Reported.Reloads), "generations seen in /proc, and reloads that the controllers counted")
	Expect(s.Requests.Sent).To(BeNumerically(">", 500))
	Expect(s.Requests.Unexplained).To(BeZero())
	Expect(s.Memory.PeakRSS).To(BeNumerically(">", 0))
	Expect(s.CPU.Controller).To(BeNumerically(">", 0))
}

// reloads returns the number of reloads that the controllers logged as Events.
func (w *world) reloads(ctx context.Context) (n int) {
	GinkgoHelper()
	events, err := w.client.CoreV1().Events(system).List(ctx, metav1.ListOptions{FieldSelector: "reason=RELOAD,type=" + corev1.EventTypeNormal})
	Expect(err).NotTo(HaveOccurred())
	for _, e := range events.Items {
		n += max(1, int(e.Count))
	}
	return n
}
