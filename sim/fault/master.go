package fault

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// master is nginx's master process, and how it was started.
type master struct {
	pid    int
	binary string
	args   []string
	root   string // where we find the files of its container; empty: it shares our root
}

// masterOf returns the victim's master. nginx replaces its command line by the title "nginx: master
// process BINARY ARGUMENT …", in which an argument with spaces looks like several.
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
		return master{}, fmt.Errorf("process %d has the title %q", pid, line)
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

// configuration returns the path of nginx.conf as its master sees it.
func configuration(v Victim) (master, string, error) {
	m, err := masterOf(v)
	if err != nil {
		return master{}, "", err
	}
	at := slices.Index(m.args, "-c") + 1
	if at == 0 || at == len(m.args) {
		return master{}, "", errors.New("nginx was started without -c: the path of its configuration is not known")
	}
	return m, m.args[at], nil
}
