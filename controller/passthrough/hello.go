package passthrough

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
)

// longestHello is how much of a connection is read to find the name. One TLS
// record holds no more, and browsers say it in the first.
const longestHello = 16 << 10

var errRead = errors.New("the name is read")

// readHello is the name that a client asks for in its first message, in lower
// case, and the bytes that were read to find it. What is not TLS, or longer
// than is read, has no name. An error is one of the connection.
func readHello(conn net.Conn) (name string, said []byte, err error) {
	listener := &listening{Conn: conn}
	// crypto/tls reads the message, and is stopped before it answers.
	handshake := tls.Server(listener, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name = strings.ToLower(hello.ServerName)
		return nil, errRead
	}})
	err = handshake.Handshake()
	if listener.failed != nil {
		return "", nil, listener.failed
	}
	if !errors.Is(err, errRead) {
		name = ""
	}
	return name, listener.heard.Bytes(), nil
}

// listening is a connection that remembers what was read, says nothing, and
// ends where readHello gives up.
type listening struct {
	net.Conn
	heard  bytes.Buffer
	failed error
}

func (l *listening) Read(b []byte) (int, error) {
	left := longestHello - l.heard.Len()
	if left == 0 {
		return 0, io.EOF
	}
	n, err := l.Conn.Read(b[:min(len(b), left)])
	l.heard.Write(b[:n])
	if err != nil && !(errors.Is(err, io.EOF) && l.heard.Len() > 0) {
		l.failed = err
	}
	return n, err
}

// Write drops the alert by which crypto/tls says that it stops.
func (l *listening) Write(b []byte) (int, error) { return len(b), nil }
