// Package announce notifies nginx's workers immediately of new configuration. It stands between the
// controller, which has sent the configuration, and our Lua code; each worker keeps a connection.
// Its one rule: an announcement carries no data and may be lost, because workers also poll. A worker
// that connects receives one at once, for changes that were announced before.
package announce

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"windtunnel.dev/controller/socket"
	"windtunnel.dev/internal/accept"
)

// patience is how long a worker may leave an announcement unread once its socket is full. A slower
// worker is disconnected, and connects again.
const patience = 100 * time.Millisecond

// mostListeners is the maximum number of connections; further ones are refused. It exceeds the
// number of workers of many generations. Any process on the machine may connect.
const mostListeners = 4096

// Announcer announces changes to workers. A nil Announcer announces nothing.
type Announcer struct {
	listener net.Listener

	mu        sync.Mutex
	listeners map[net.Conn]bool // nil: closed
}

// Open listens on a Unix socket.
func Open(path string, log *slog.Logger) (*Announcer, error) {
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, fmt.Errorf("the socket for announcements to nginx's workers: %w", err)
	}
	a := &Announcer{listener: listener, listeners: map[net.Conn]bool{}}
	go accept.Each(listener, log, func(connection net.Conn) { go a.keep(connection) })
	return a, nil
}

// keep keeps a connection until the worker ends it.
func (a *Announcer) keep(connection net.Conn) {
	if !a.add(connection) {
		connection.Close()
		return
	}
	// Workers send nothing: the read returns when the connection ends.
	connection.Read(make([]byte, 1)) //nolint:errcheck // it ends in any case
	a.remove(connection)
}

func (a *Announcer) add(connection net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listeners == nil || len(a.listeners) >= mostListeners {
		return false
	}
	a.listeners[connection] = true
	announce(connection)
	return true
}

func (a *Announcer) remove(connection net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.listeners, connection)
	connection.Close()
}

// Announce notifies all workers that there is new configuration.
func (a *Announcer) Announce() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for connection := range a.listeners {
		announce(connection)
	}
}

func announce(connection net.Conn) {
	if err := connection.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return
	}
	if _, err := connection.Write([]byte{'\n'}); err != nil {
		connection.Close() // its reader removes it
	}
}

// Listeners returns the number of connected workers.
func (a *Announcer) Listeners() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.listeners)
}

// Close ends all connections, and removes the socket.
func (a *Announcer) Close() error {
	if a == nil {
		return nil
	}
	err := a.listener.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	for connection := range a.listeners {
		connection.Close()
	}
	a.listeners = nil
	return err
}
