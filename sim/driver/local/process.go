package local

import (
	"syscall"

	"windtunnel.dev/internal/guard"
)

// process is a started controller.
type process struct{ *guard.Process }

func (c process) Terminate() error { return c.Signal(syscall.SIGTERM) }
func (c process) Kill() error      { return c.Signal(syscall.SIGKILL) }
