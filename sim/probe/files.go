package probe

import (
	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

// addFiles adds up the open files of nginx, whose processes pids are, and those of
// the controller; none if the kernel does not tell them to us.
func (u *Usage) addFiles(s *event.Usage, pids []int) {
	for _, pid := range pids {
		n, err := descriptorsOf(pid)
		if err != nil {
			u.fileTrouble.report("nginx's open files are not counted", err)
			s.NginxFiles = 0
			break
		}
		s.NginxFiles += n
	}
	if u.controller == nil {
		return
	}
	pid, err := u.controller()
	if err != nil {
		return // it is not running, which is its supervisor's to report
	}
	if s.ControllerFiles, err = descriptorsOf(pid); err != nil {
		u.fileTrouble.report("the controller's open files are not counted", err)
	}
}

// descriptorsOf is 0 of a process that has ended.
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
