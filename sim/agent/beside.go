package agent

import (
	"errors"
	"os"

	"github.com/prometheus/procfs"

	"windtunnel.dev/internal/process"
)

// errNoController means that the agent's pod has no other container that runs.
var errNoController = errors.New("no other container of the pod runs, or their processes are not visible (shareProcessNamespace)")

// Beside returns the PID of the program of the pod's other container. In a pod whose containers share
// their processes, the first process of each container has no parent; process 1 is the pod's own.
func Beside() (int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		stat, err := one.Stat()
		if err != nil || stat.PPID != 0 || one.PID == 1 || one.PID == os.Getpid() || stat.State == "Z" {
			continue
		}
		return process.Program(one.PID)
	}
	return 0, errNoController
}
