package probe

import (
	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

// addFiles adds up the open files of nginx, whose processes are pids, and those of the controller.
// They stay 0 if the kernel does not let us count them.
func (u *Usage) addFiles(s *event.Usage, pids []int) {
	for _, pid := range pids {
		n, err := descriptorsOf(pid)
		if err != nil {
			u.fileTrouble.report("the proxy's open files are not counted", err)
			s.NginxFiles = 0
			break
		}
		s.NginxFiles += n
	}
	if u.controller == nil {
		return
	}
	pid, err := u.controller()
	if err != nil || pid == u.workers.Master() {
		return // it is not running, which its supervisor reports, or it is counted already
	}
	if s.ControllerFiles, err = descriptorsOf(pid); err != nil {
		u.fileTrouble.report("the controller's open files are not counted", err)
	}
}

// descriptorsOf returns the number of open files of a process, 0 if it has ended.
func descriptorsOf(pid int) (int, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0, nil //nolint:nilerr // it has ended
	}
	n, err := proc.FileDescriptorsLen()
	if err != nil && Exists(pid) && !gone(err) {
		return 0, err
	}
	return n, nil
}
