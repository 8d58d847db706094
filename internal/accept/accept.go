// Package accept accepts connections for as long as a listener is open. It stands between a listener and
// the function that serves its connections. Its one rule: a shortage, such as too many open files, delays
// connections but never ends the loop.
package accept

import (
	"errors"
	"log/slog"
	"net"
	"time"
)

// Pauses after an error: the first one, which doubles with each further error, and the longest.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// Each calls serve with each connection until the listener is closed. serve must return soon: no
// connection is accepted meanwhile. Errors are logged.
func Each(listener net.Listener, log *slog.Logger, serve func(net.Conn)) {
	for pause := time.Duration(0); ; {
		connection, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			pause = min(max(firstPause, 2*pause), longestPause)
			log.Warn("accepting a connection", "address", listener.Addr().String(), "error", err.Error(), "pause", pause)
			<-time.After(pause)
		default:
			pause = 0
			serve(connection)
		}
	}
}
