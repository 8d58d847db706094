package load

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"syscall"

	"windtunnel.dev/internal/plural"
)

// Watcher counts the events of one watch over a connection of its own. The kernel drops most of
// their bytes unread, so a hundred watchers leave the processors to the server.
type Watcher struct {
	conn  *net.TCPConn
	heads *bufio.Reader // reads chunk heads; small, because buffered bytes are copied
	frame int           // size of the first event in bytes; 0 before it
}

// moreDigits is the largest difference in bytes between the first event and a later one: resource
// versions grow, and everything else has a constant length.
const moreDigits = 8

// NewWatcher starts a protobuf watch of all EndpointSlices from a version. The server must put
// whole events into each chunk, as the simulated one does, and may not send bookmarks. The token
// may be empty.
func NewWatcher(conn *net.TCPConn, version, token string) (*Watcher, error) {
	w := &Watcher{conn: conn, heads: bufio.NewReaderSize(conn, 512)}
	if _, err := fmt.Fprintf(conn, "GET /apis/discovery.k8s.io/v1/endpointslices?watch=1&resourceVersion=%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: %s\r\n%s\r\n",
		version, conn.RemoteAddr(), Protobuf, authorization(token)); err != nil {
		return nil, err
	}
	length, chunked, err := readHead(w.heads)
	if err == nil && !chunked {
		err = fmt.Errorf("a watch is answered with %d bytes and no stream", length)
	}
	return w, err
}

// Skip waits for n more events. The last chunk may contain more events than that.
func (w *Watcher) Skip(n int) error {
	for n > 0 {
		size, err := readChunkSize(w.heads)
		if err != nil {
			return err
		}
		if size == 0 {
			return fmt.Errorf("the watch ended %s early", plural.Of(n, "event"))
		}
		events, err := w.count(size)
		if err != nil {
			return err
		}
		if err := w.drop(size + len("\r\n")); err != nil {
			return err
		}
		n -= events
	}
	return nil
}

// count returns the number of events in a chunk of size bytes.
func (w *Watcher) count(size int) (int, error) {
	if w.frame == 0 {
		head, err := w.heads.Peek(4)
		if err != nil {
			return 0, err
		}
		w.frame = 4 + int(binary.BigEndian.Uint32(head))
	}
	n := size / w.frame
	if size%w.frame > moreDigits*n {
		return 0, fmt.Errorf("a chunk of %d bytes is not of whole events, whose first had %d", size, w.frame)
	}
	return n, nil
}

// drop skips n bytes: first the buffered ones, then those in the kernel.
func (w *Watcher) drop(n int) error {
	held, err := w.heads.Discard(min(n, w.heads.Buffered()))
	if err != nil {
		return err
	}
	raw, err := w.conn.SyscallConn()
	if err != nil {
		return err
	}
	for left := n - held; left > 0; {
		var dropped int
		var failed error
		if err := raw.Read(func(fd uintptr) bool {
			// MSG_TRUNC: the bytes count as read and are copied nowhere (tcp(7)).
			dropped, _, failed = syscall.Recvfrom(int(fd), nowhere[:min(left, len(nowhere))], syscall.MSG_TRUNC)
			return failed != syscall.EAGAIN
		}); err != nil {
			return err
		}
		if failed == nil && dropped == 0 {
			failed = io.ErrUnexpectedEOF
		}
		if failed != nil {
			return fmt.Errorf("in the middle of an event: the connection ended: %w", failed)
		}
		left -= dropped
	}
	return nil
}

// nowhere is never written to.
var nowhere [1 << 20]byte
