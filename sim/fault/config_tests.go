package fault

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"windtunnel.dev/internal/command"
)

// testPause is how long to wait after a test that could not run: nginx may be starting.
const testPause = 100 * time.Millisecond

// testConfig runs the master's own binary, with its own arguments and -t, again and again until the
// fault is healed. It counts the runs that came to a verdict.
func testConfig(v Victim, _ time.Duration) (endFunc, error) {
	if _, err := masterOf(v); err != nil {
		return nil, err
	}
	output, err := os.CreateTemp("", "windtunnel-config-tests-")
	if err != nil {
		return nil, err
	}
	os.Remove(output.Name())
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan int, 1)
	go func() {
		defer output.Close()
		ran <- testConfigUntil(ctx, v, output)
	}()
	return func() int { cancel(); return <-ran }, nil
}

// testConfigUntil tests with whatever nginx runs, and returns how many tests came to a verdict.
// While there is no nginx, because of other faults, it waits. It also waits if nginx -t cannot run,
// and reports that if the next attempt with the same master fails as well: at the first, the master
// may just have ended.
func testConfigUntil(ctx context.Context, v Victim, output *os.File) (verdicts int) {
	var refuses, fails sync.Once // report each only once
	failed := 0                  // the master of the last test, if it could not be run
	for ctx.Err() == nil {
		m, err := masterOf(v)
		if err == nil {
			var refusal string
			refusal, err = m.test(ctx, output)
			switch {
			case ctx.Err() != nil: // we ended the test
			case err == nil && refusal == "":
				verdicts++
			case refusal != "":
				verdicts++
				refuses.Do(func() { v.Trouble("nginx -t refuses the configuration in place", refusal) })
			case err != nil && failed == m.pid:
				fails.Do(func() { v.Trouble("nginx -t cannot be run", err.Error()) })
			}
		}
		failed = 0
		if err != nil {
			failed = m.pid
			select {
			case <-ctx.Done():
			case <-time.After(testPause):
			}
		}
	}
	return verdicts
}

// test runs nginx -t once and returns why nginx refuses its configuration, or "". It returns an
// error if the test came to no verdict.
func (m master) test(ctx context.Context, output *os.File) (refusal string, err error) {
	line := append(append([]string{m.binary}, m.args...), "-t")
	if m.root != "" {
		if line, err = commandInside(m.pid, line, output); err != nil {
			return "", err
		}
	}
	output.Truncate(0)
	output.Seek(0, io.SeekStart)
	test := command.New(ctx, line[0], line[1:]...) // ends its whole process group: nsenter forks
	test.Stdout, test.Stderr = output, output
	failed := test.Run()
	if failed == nil {
		return "", nil
	}
	said, err := io.ReadAll(io.NewSectionReader(output, 0, 1<<20))
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	for _, line := range slices.Backward(lines) { // nginx's last line only says that the test failed
		if strings.Contains(line, "[emerg]") {
			return line, nil
		}
	}
	return "", errors.New(cmp.Or(lines[len(lines)-1], failed.Error()))
}
