package kubeapi

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
)

// chunked writes the body of an answer in chunks (RFC 9112, section 7.1) directly to the
// connection, once net/http has sent the header. net/http would copy each chunk twice and write it
// in three parts, and each part costs a system call, a packet and a wakeup of the reader. net/http
// later writes the end of the body, as if it had written the chunks itself.
type chunked struct {
	conn  net.Conn
	parts net.Buffers
}

// chunkedOf returns nil if other requests share the connection (HTTP/2), if the protocol has no
// chunks (HTTP/1.0), or if a wrapper of w must see the written bytes.
func chunkedOf(w http.ResponseWriter, req *http.Request) *chunked {
	conn := connectionOf(req).conn
	_, wrapped := w.(interface{ Unwrap() http.ResponseWriter })
	if conn == nil || wrapped || req.ProtoMajor != 1 || req.ProtoMinor < 1 {
		return nil
	}
	return &chunked{conn: conn}
}

// write writes the parts, of size bytes together, as one chunk.
func (c *chunked) write(parts [][]byte, size int) error {
	c.parts = append(c.parts[:0], append(strconv.AppendInt(nil, int64(size), 16), "\r\n"...))
	c.parts = append(append(c.parts, parts...), []byte("\r\n"))
	if _, plain := c.conn.(*net.TCPConn); plain {
		left := c.parts // a second slice header, because WriteTo consumes it
		_, err := left.WriteTo(c.conn)
		return err
	}
	_, err := c.conn.Write(bytes.Join(c.parts, nil)) // TLS makes a record of each write
	clear(c.parts)
	return err
}
