package passthrough

import (
	"io"
	"net"
	"sync"
)

// client is a connection of a client: what is read of it, and who it is, may
// come through a reader of the PROXY protocol.
type client struct {
	*net.TCPConn
	heard net.Conn
}

func (c client) Read(b []byte) (int, error)         { return c.heard.Read(b) }
func (c client) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, c.heard) }
func (c client) RemoteAddr() net.Addr               { return c.heard.RemoteAddr() }
func (c client) LocalAddr() net.Addr                { return c.heard.LocalAddr() }

// side is one end of a connection that is carried on.
type side interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// relay carries bytes both ways until both sides have said that they are done,
// or one is broken. One that is done may still be told things.
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
