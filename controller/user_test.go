package controller_test

import (
	"os"
	"testing"

	"github.com/prometheus/procfs"
)

// The controller may run as root, but nginx's workers never do.
func TestWorkersAreNotRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only an nginx started by root has workers of another user")
	}
	t.Parallel()
	r := launch(t, true)
	r.service(pod(t, "127.88.41.1", "one"))
	r.awaitAnswer("one")
	for _, pid := range r.workers() {
		process, err := procfs.NewProc(pid)
		r.must(err)
		status, err := process.NewStatus()
		r.must(err)
		for _, uid := range status.UIDs {
			if uid == 0 {
				t.Errorf("worker %d has the users %v", pid, status.UIDs)
			}
		}
	}
}
