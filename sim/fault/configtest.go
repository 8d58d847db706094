package fault

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// testAgain runs the master's own binary, with its own arguments and -t, until it
// is healed, one run after another.
func testAgain(v Victim, _ time.Duration) (heal func(), err error) {
	pid, err := v.Master()
	if err != nil {
		return nil, err
	}
	binary, args, err := commandOf(pid)
	if err != nil {
		return nil, fmt.Errorf("finding out how nginx was started: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			exec.CommandContext(ctx, binary, append(slices.Clone(args), "-t")...).Run() // that it fails is no affair of ours
		}
	}()
	return func() { cancel(); <-done }, nil
}

// commandOf is the binary of an nginx master and its arguments. nginx writes them
// over its own name as "nginx: master process BINARY ARGUMENT …", where arguments
// with spaces can no longer be told apart.
func commandOf(pid int) (binary string, args []string, err error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return "", nil, err
	}
	line, err := process.CmdLine()
	if err != nil {
		return "", nil, err
	}
	words := strings.Fields(strings.Join(line, " "))
	after := slices.Index(words, "process") + 1
	if len(words) <= after {
		return "", nil, fmt.Errorf("process %d calls itself %q", pid, line)
	}
	if binary, err = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
		return "", nil, err
	}
	return binary, words[after+1:], nil
}
