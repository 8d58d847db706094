package passthrough

import (
	"io"
	"net"
	"sync"
)

// client is a connection from a client. reader is the same connection, or one that takes the
// client's address from a PROXY header; reads and addresses come from it.
type client struct {
	*net.TCPConn
	reader net.Conn
}

func (c client) Read(b []byte) (int, error)         { return c.reader.Read(b) }
func (c client) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, c.reader) }
func (c client) RemoteAddr() net.Addr               { return c.reader.RemoteAddr() }
func (c client) LocalAddr() net.Addr                { return c.reader.LocalAddr() }

// side is one side of a relayed connection.
type side interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// relay copies bytes in both directions until both sides have closed their write side or one
// connection fails. A side that has closed its write side still receives bytes.
func relay(a, b side) {
	var both sync.WaitGroup
	both.Go(func() { carry(a, b) })
	both.Go(func() { carry(b, a) })
	both.Wait()
}

func carry(to, from side) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		from.Close()
		return
	}
	to.CloseWrite()
}
