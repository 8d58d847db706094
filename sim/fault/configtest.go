package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	user, err := userOf(root)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		told := false
		for ctx.Err() == nil {
			test := exec.CommandContext(ctx, binary, append(slices.Clone(args), "-t")...)
			if root != "" {
				test.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: user}
				test.Dir = "/"
			}
			output, err := test.CombinedOutput()
			if err != nil && ctx.Err() == nil && !told {
				told = true // once says it all
				v.Trouble("nginx -t refuses the configuration in place", lastLine(output))
			}
		}
	}()
	return func() { cancel(); <-done }, nil
}

func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(lines[len(lines)-1])
}

// tear cuts nginx.conf in half, in place, and puts the other half back, unless
// somebody has replaced the file meanwhile.
func tear(v Victim, _ time.Duration) (heal func(), err error) {
	_, args, root, err := commandOf(v)
	if err != nil {
		return nil, err
	}
	at := slices.Index(args, "-c") + 1
	if at == 0 || at == len(args) {
		return nil, errors.New("nginx was started without -c: where its configuration lies is not known")
	}
	file, err := os.OpenFile(filepath.Join(root, args[at]), os.O_RDWR, 0)
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

// rootOf is empty where a process has the same root as we.
func rootOf(pid int) string {
	root := fmt.Sprintf("/proc/%d/root", pid)
	theirs, err := os.Stat(root + "/.")
	ours, ourErr := os.Stat("/")
	if err != nil || ourErr != nil || os.SameFile(ours, theirs) {
		return ""
	}
	return root
}

// userOf is as whom a process runs whose root that is; nil of our own. As anybody
// else, nginx would give its folders to another user.
func userOf(root string) (*syscall.Credential, error) {
	if root == "" {
		return nil, nil
	}
	info, err := os.Stat(filepath.Dir(root))
	if err != nil {
		return nil, err
	}
	owner := info.Sys().(*syscall.Stat_t) // as on any Unix
	return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}, nil
}
