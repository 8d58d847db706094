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

// testPause is how long no test is run where none could be: nginx is on its way.
const testPause = 100 * time.Millisecond

// testAgain runs the master's own binary, with its own arguments and -t, until it
// is healed, one run after another. It counts the runs that came to a verdict.
func testAgain(v Victim, _ time.Duration) (over, error) {
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
		ran <- testUntil(ctx, v, output)
	}()
	return func() int { cancel(); return <-ran }, nil
}

// testUntil tests whatever nginx there is. While there is none, which is the work of
// other faults, it waits; so it does when nginx -t cannot be run, which is told if the
// same master is there at the next attempt: the first may have met its end. It
// returns how many tests came to a verdict.
func testUntil(ctx context.Context, v Victim, output *os.File) (verdicts int) {
	var refuses, fails sync.Once // once says it all
	failed := 0                  // the master of the last test, if it could not be run
	for ctx.Err() == nil {
		m, err := masterOf(v)
		if err == nil {
			var refusal string
			refusal, err = m.test(ctx, output)
			switch {
			case ctx.Err() != nil: // it was ended half-way
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

// test runs nginx -t once, and says what nginx has against its configuration. An
// error is of a test that came to no verdict.
func (m master) test(ctx context.Context, output *os.File) (refusal string, err error) {
	line := append(append([]string{m.binary}, m.args...), "-t")
	if m.root != "" {
		if line, err = inside(m.pid, line, output); err != nil {
			return "", err
		}
	}
	output.Truncate(0)
	output.Seek(0, io.SeekStart)
	test := command.New(ctx, line[0], line[1:]...) // all of its group ends: what enters a container forks
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
	for _, line := range slices.Backward(lines) { // nginx's last only says that the test has failed
		if strings.Contains(line, "[emerg]") {
			return line, nil
		}
	}
	return "", errors.New(cmp.Or(lines[len(lines)-1], failed.Error()))
}
