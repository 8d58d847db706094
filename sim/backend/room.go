package backend

import (
	"errors"
	"fmt"

	"windtunnel.dev/internal/openfiles"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/sharedlistener"
)

// Need has the numbers of pods and sockets that a run needs on this machine when it starts.
type Need struct {
	Subjects int
	Pods     int // of each subject
	Sockets  int // of each subject, if no pods share any
}

// Fit returns nil if this machine has room for the pods, with so many addresses for each subject. The
// error shows the arithmetic.
func (n Need) Fit(addresses int) error {
	if n.Pods > addresses {
		return fmt.Errorf("a subject's %s need an address each, and there are %d, none of which is used twice: make the population smaller", plural.Of(n.Pods, "pod"), addresses)
	}
	limit, err := openfiles.Limit()
	if err != nil {
		return err
	}
	return n.fitFiles(limit, sharedlistener.Supported())
}

// fitFiles returns nil if that many open files are enough. unshared says why pods cannot share sockets.
func (n Need) fitFiles(limit int, unshared error) error {
	switch {
	case unshared == nil:
		return nil
	case !errors.Is(unshared, sharedlistener.ErrUnsupported):
		return unshared
	}
	if err := openfiles.Fit(n.Subjects, n.Sockets, limit); err != nil {
		return fmt.Errorf("the simulated pods do not fit on this machine: %w: raise it (ulimit -n), make the population smaller, or let the pods share sockets: %w", err, unshared)
	}
	return nil
}
