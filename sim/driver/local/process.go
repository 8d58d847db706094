package local

import (
	"sync/atomic"
	"syscall"

	"windtunnel.dev/internal/guard"
	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/sim/probe"
)

// process is a started controller.
type process struct {
	*guard.Process
	isolated bool         // guard.Process is the wrapper around the controller
	main     atomic.Int64 // the controller in the wrapper; 0 until it is found

	// arguments are those of a controller from an image, which an init process or a script of the image
	// may start.
	arguments []string
	beforeEnd func(controller int) // called before an isolated controller is asked to end
}

// PID returns the PID of the controller or, before a wrapper has started it, of the wrapper.
func (c *process) PID() int {
	if !c.isolated {
		return c.Process.PID()
	}
	if c.main.Load() == 0 {
		c.main.Store(int64(isolated.Main(c.Process.PID())))
	}
	if pid := c.main.Load(); pid != 0 {
		return probe.WithArguments(int(pid), c.arguments)
	}
	return c.Process.PID()
}

func (c *process) Terminate() error {
	if c.isolated {
		c.beforeEnd(c.PID())
	}
	return c.Signal(syscall.SIGTERM)
}

func (c *process) Kill() error { return c.Signal(syscall.SIGKILL) }
