package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CPUs returns how many CPUs the container may use according to its cgroup file system, rounded up
// and limited to the CPUs of the machine. ingress-nginx starts that many workers by default.
func CPUs(cgroup string, machine int) int {
	quota, period := cpuQuota(cgroup)
	if quota <= 0 || period <= 0 {
		return machine
	}
	return min(machine, (quota+period-1)/period)
}

// cpuQuota returns the CPU time allowed per period, and the length of the period, both in
// microseconds. The quota is 0 or less if there is no limit. The values are in cpu.max (cgroup
// version 2) or cpu.cfs_*_us (version 1).
func cpuQuota(cgroup string) (quota, period int) {
	if fields := words(filepath.Join(cgroup, "cpu.max")); len(fields) == 2 {
		return number(fields[0]), number(fields[1])
	}
	for name, value := range map[string]*int{"cpu.cfs_quota_us": &quota, "cpu.cfs_period_us": &period} {
		if fields := words(filepath.Join(cgroup, "cpu", name)); len(fields) == 1 {
			*value = number(fields[0])
		}
	}
	return quota, period
}

// words returns the words of a file; none if it cannot be read.
func words(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// number parses a number. It returns 0 if the text is not one.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
