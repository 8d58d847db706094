package nginx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"windtunnel.dev/internal/process"
)

// EndLeftover ends the nginx that a controller has left running which was killed:
// the one whose PID file is below root, and was started with the configuration
// conf, or what workers its master left. Nobody else may run an nginx there now. It
// returns the master's PID, 0 if there was nothing to end.
func EndLeftover(root, pidFile, conf string) (master int, err error) {
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("looking for an nginx that was left running: %w", err)
	}
	master, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || master <= 1 {
		return 0, nil //nolint:nilerr // nginx had not come as far as to write it
	}
	left := remains(master, root, conf)
	if len(left) == 0 {
		return 0, nil
	}
	// SIGTERM and no SIGQUIT: the old workers' requests would hold up the start.
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for end := time.Now().Add(terminateTime); time.Now().Before(end); time.Sleep(lookEvery) {
			if left = remains(master, root, conf); len(left) == 0 {
				return master, nil
			}
			for _, pid := range left {
				_ = syscall.Kill(pid, signal) // that it has ended meanwhile is as good
			}
		}
	}
	return master, fmt.Errorf("the nginx that was left running has not ended: processes %v: end them", left)
}

// remains are the processes of an nginx: its master leads their process group. That it is
// the one we mean is seen from the master's title, or from the files that a worker has open.
func remains(master int, root, conf string) []int {
	pids, err := process.Group(master)
	if err != nil {
		return nil
	}
	pids = slices.DeleteFunc(pids, func(pid int) bool {
		title, _, err := inspect(pid)
		return err != nil || !strings.HasPrefix(title, "nginx: ")
	})
	ours := slices.ContainsFunc(pids, func(pid int) bool {
		title, _, _ := inspect(pid)
		return strings.HasSuffix(title, " -c "+conf) || process.Uses(pid, root)
	})
	if !ours {
		return nil
	}
	return pids
}
