package controller

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cpus is how many workers nginx starts unless the ConfigMap says otherwise:
// as many as there are CPUs, or as the container may use, rounded up, as in
// ingress-nginx. Go's own count is never less than two.
func cpus(cgroup string, machine int) int {
	quota, period := cpuQuota(cgroup)
	if quota <= 0 || period <= 0 {
		return machine
	}
	return min(machine, (quota+period-1)/period)
}

// cpuQuota is how many microseconds of CPU may be used in how many, 0 if there
// is no limit (Linux, cgroup-v2 cpu.max; of version 1, cpu.cfs_*_us).
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

// words are those of a file; none if it cannot be read.
func words(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// number is that of a text; 0 if it is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
