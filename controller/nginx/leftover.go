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

// EndLeftover ends the nginx, or its remaining workers, of a controller that was killed. It
// identifies nginx by its PID file and by conf, its configuration, or by files below root that it
// uses. The caller must ensure that no other controller uses root. EndLeftover returns the master's
// PID, or 0 if there was nothing to end.
func EndLeftover(root, pidFile, conf string) (master int, err error) {
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("looking for a leftover nginx: %w", err)
	}
	master, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || master <= 1 {
		return 0, nil //nolint:nilerr // nginx had not written it yet
	}
	left := remains(master, root, conf)
	if len(left) == 0 {
		return 0, nil
	}
	// SIGTERM, not SIGQUIT: requests of the old workers would delay the start.
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for end := time.Now().Add(terminateTime); time.Now().Before(end); time.Sleep(lookEvery) {
			if left = remains(master, root, conf); len(left) == 0 {
				return master, nil
			}
			for _, pid := range left {
				_ = syscall.Kill(pid, signal) // an error means that it has just ended
			}
		}
	}
	return master, fmt.Errorf("the nginx of an earlier controller has not ended: kill the processes %v", left)
}

// remains returns the processes of the leftover nginx, which are in the process group of its
// master. The title of the master or the open files of a worker identify it.
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
