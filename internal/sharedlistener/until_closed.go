package sharedlistener

import (
	"errors"
	"net"
	"time"
)

// UntilClosed repeats do, which accepts or receives, until it returns net.ErrClosed. After any
// other error, such as too many open files, it reports the trouble and pauses, longer each time up
// to a second. It must not give up: clients could still connect, and would wait forever.
func UntilClosed(trouble func(error), do func() error) {
	const least, most = 5 * time.Millisecond, time.Second
	pause := least
	for {
		switch err := do(); {
		case err == nil:
			pause = least
		case errors.Is(err, net.ErrClosed):
			return
		default:
			trouble(err)
			time.Sleep(pause)
			pause = min(2*pause, most)
		}
	}
}
