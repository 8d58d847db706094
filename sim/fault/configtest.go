package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// testAgain runs the master's own binary, with its own arguments and -t, until it
// is healed, one run after another.
func testAgain(v Victim, _ time.Duration) (heal func(), err error) {
	binary, args, root, err := commandOf(v)
	if err != nil {
		return nil, err
	}
	output, err := os.CreateTemp("", "windtunnel-config-tests-")
	if err != nil {
		return nil, err
	}
	os.Remove(output.Name())
	again := append([]string{binary}, append(args, "-t")...)
	if root != "" {
		if again, err = inside(v, again, output); err != nil {
			output.Close()
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer output.Close()
		told := false
		for ctx.Err() == nil {
			output.Truncate(0)
			output.Seek(0, io.SeekStart)
			test := exec.CommandContext(ctx, again[0], again[1:]...)
			test.Stdout, test.Stderr = output, output
			if err := test.Run(); err != nil && ctx.Err() == nil && !told {
				told = true // once says it all
				v.Trouble("nginx -t refuses the configuration in place", reason(output, err))
			}
		}
	}()
	return func() { cancel(); <-done }, nil
}

// reason is why nginx refused: its last line only says that it did.
func reason(output *os.File, err error) string {
	text, unread := io.ReadAll(io.NewSectionReader(output, 0, 1<<20))
	said := strings.TrimSpace(string(text))
	if unread != nil || said == "" {
		return err.Error()
	}
	lines := strings.Split(said, "\n")
	for _, line := range slices.Backward(lines) {
		if strings.Contains(line, "[emerg]") {
			return line
		}
	}
	return lines[len(lines)-1]
}

// tear cuts nginx.conf in half, in place, and puts the other half back, unless
// somebody has replaced the file meanwhile.
func tear(v Victim, _ time.Duration) (heal func(), err error) {
	conf, root, err := configuration(v)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(root, conf), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	half := info.Size() / 2
	rest := make([]byte, info.Size()-half)
	if _, err := file.ReadAt(rest, half); err != nil {
		file.Close()
		return nil, err
	}
	if err := file.Truncate(half); err != nil {
		file.Close()
		return nil, err
	}
	return func() {
		defer file.Close() // of the file as it was found: a new one of that name is left alone
		file.WriteAt(rest, half)
	}, nil
}

// configuration is the path of nginx.conf as nginx has it, and the root that it
// is below, as commandOf.
func configuration(v Victim) (path, root string, err error) {
	_, args, root, err := commandOf(v)
	if err != nil {
		return "", "", err
	}
	at := slices.Index(args, "-c") + 1
	if at == 0 || at == len(args) {
		return "", "", errors.New("nginx was started without -c: where its configuration lies is not known")
	}
	return args[at], root, nil
}

// commandOf is the binary of nginx's master and its arguments. nginx writes them
// over its own name as "nginx: master process BINARY ARGUMENT …", where arguments
// with spaces can no longer be told apart. Where its files are those of a container,
// root is where we find them; else it is empty.
func commandOf(v Victim) (binary string, args []string, root string, err error) {
	pid, err := v.Master()
	if err != nil {
		return "", nil, "", err
	}
	process, err := procfs.NewProc(pid)
	if err != nil {
		return "", nil, "", fmt.Errorf("finding out how nginx was started: %w", err)
	}
	line, err := process.CmdLine()
	if err != nil {
		return "", nil, "", fmt.Errorf("finding out how nginx was started: %w", err)
	}
	words := strings.Fields(strings.Join(line, " "))
	after := slices.Index(words, "process") + 1
	if len(words) <= after {
		return "", nil, "", fmt.Errorf("finding out how nginx was started: process %d calls itself %q", pid, line)
	}
	if binary, err = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
		return "", nil, "", fmt.Errorf("finding out how nginx was started: %w", err)
	}
	return binary, words[after+1:], rootOf(pid), nil
}
