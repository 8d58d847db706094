package kindcluster

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/kind/pkg/cluster"

	"windtunnel.dev/sim/probe"
)

// sweep removes the clusters of processes that have ended.
func sweep(provider *cluster.Provider) error {
	names, err := provider.List()
	if err != nil {
		return fmt.Errorf("list clusters that were left behind: %w", err)
	}
	for _, name := range names {
		if pid, ours := maker(name); ours && !probe.Exists(pid) {
			if err := provider.Delete(name, "/dev/null"); err != nil {
				return fmt.Errorf("remove %s, which an ended process left behind: %w", name, err)
			}
		}
	}
	return nil
}

// maker returns the PID in the name of a cluster that is not kept.
func maker(name string) (pid int, ours bool) {
	rest, ours := strings.CutPrefix(name, "windtunnel-")
	if !ours {
		return 0, false
	}
	number, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return pid, err == nil && pid > 0
}
