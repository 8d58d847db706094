package port

import (
	"net"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
)

// A forked child keeps copies of the parent's sockets until it executes its program.
func TestFreePortsCanBeListenedOnWhileProcessesStart(t *testing.T) {
	var done atomic.Bool
	ended := make(chan error, 2)
	for range cap(ended) {
		go func() {
			for !done.Load() {
				if err := exec.Command("true").Run(); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	for range 2000 {
		free, err := Free(1)
		if err != nil {
			t.Error(err)
			break
		}
		listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(free))
		if err != nil {
			t.Error(err)
			break
		}
		listener.Close()
	}
	done.Store(true)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
