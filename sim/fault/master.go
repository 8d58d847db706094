package fault

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// master is nginx's master process and how it was started. Where its files are
// those of a container, root is where we find them; else it is empty.
type master struct {
	pid    int
	binary string
	args   []string
	root   string
}

// masterOf finds out about the victim's. nginx writes how it was started over its own
// name, as "nginx: master process BINARY ARGUMENT …", where arguments with spaces can
// no longer be told apart.
func masterOf(v Victim) (master, error) {
	pid, err := v.Master()
	if err != nil {
		return master{}, err
	}
	m, err := readMaster(pid)
	if err != nil {
		return master{}, fmt.Errorf("finding out how nginx was started: %w", err)
	}
	return m, nil
}

func readMaster(pid int) (master, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return master{}, err
	}
	line, err := process.CmdLine()
	if err != nil {
		return master{}, err
	}
	words := strings.Fields(strings.Join(line, " "))
	after := slices.Index(words, "process") + 1
	if len(words) <= after {
		return master{}, fmt.Errorf("process %d calls itself %q", pid, line)
	}
	binary, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return master{}, err
	}
	root, err := rootOf(pid)
	if err != nil {
		return master{}, err
	}
	return master{pid: pid, binary: binary, args: words[after+1:], root: root}, nil
}

// configuration is the path of nginx.conf as its master has it.
func configuration(v Victim) (master, string, error) {
	m, err := masterOf(v)
	if err != nil {
		return master{}, "", err
	}
	at := slices.Index(m.args, "-c") + 1
	if at == 0 || at == len(m.args) {
		return master{}, "", errors.New("nginx was started without -c: where its configuration lies is not known")
	}
	return m, m.args[at], nil
}
