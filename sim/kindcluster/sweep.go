package kindcluster

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/kind/pkg/cluster"

	"windtunnel.dev/sim/probe"
)

// sweep removes the clusters of processes that live no more.
func sweep(provider *cluster.Provider) error {
	names, err := provider.List()
	if err != nil {
		return fmt.Errorf("looking for clusters that were left behind: %w", err)
	}
	for _, name := range names {
		if pid, ours := maker(name); ours && !probe.Exists(pid) {
			if err := provider.Delete(name, "/dev/null"); err != nil {
				return fmt.Errorf("removing %s, which a process left behind that lives no more: %w", name, err)
			}
		}
	}
	return nil
}

// maker is the PID in the name of a cluster that is not to be kept.
func maker(name string) (pid int, ours bool) {
	rest, ours := strings.CutPrefix(name, "windtunnel-")
	if !ours {
		return 0, false
	}
	number, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return pid, err == nil && pid > 0
}
