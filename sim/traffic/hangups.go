package traffic

import (
	"fmt"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// hangups notices when servers end idle connections, without a goroutine and a system call for each
// request: all connections share one epoll instance (epoll(7)).
type hangups struct {
	epoll, wake int // file descriptors
	stopped     chan struct{}

	mu      sync.Mutex
	last    int32
	watched map[int32]func() // by number, because file descriptors are reused
}

// watchHangups starts watching. stop ends it.
func watchHangups() (*hangups, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watching idle connections: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN})
	}
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("watching idle connections: %w", err)
	}
	h := &hangups{epoll: epoll, wake: wake, stopped: make(chan struct{}), watched: make(map[int32]func())}
	go h.run()
	return h, nil
}

// add watches a connection: hungUp is called once when the server ends it. forget stops that, and must
// be called before the connection is closed.
func (h *hangups) add(conn *net.TCPConn, hungUp func()) (forget func(), err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.last++
	number := h.last
	h.watched[number] = hungUp
	h.mu.Unlock()
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.EpollCtl(h.epoll, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: number})
	})
	forget = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watched, number)
	}
	if err == nil {
		err = failed
	}
	if err != nil {
		forget()
		return nil, fmt.Errorf("watching a connection: %w", err)
	}
	return forget, nil
}

func (h *hangups) run() {
	defer close(h.stopped)
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(h.epoll, events, -1)
		if err != nil && err != unix.EINTR { //nolint:errorlint // a plain errno
			return
		}
		for i := range max(n, 0) {
			number := events[i].Fd
			if number == 0 {
				return // stop was called
			}
			h.mu.Lock()
			hungUp := h.watched[number]
			delete(h.watched, number)
			h.mu.Unlock()
			if hungUp != nil {
				hungUp()
			}
		}
	}
}

// stop ends the watching. No function of add is called after it.
func (h *hangups) stop() {
	_, _ = unix.Write(h.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-h.stopped
	unix.Close(h.wake)
	unix.Close(h.epoll)
}
