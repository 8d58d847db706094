package passthrough

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
)

// longestHello bounds the bytes that are read to find the name. It is the size of the largest TLS
// record, and browsers send the name in their first record.
const longestHello = 16 << 10

var errRead = errors.New("the name is read")

// readHello returns the server name in a client's first message, in lower case, and the bytes that
// were read to find it. The name is empty if the message is not TLS or longer than longestHello. An
// error comes from the connection.
func readHello(conn net.Conn) (name string, hello []byte, err error) {
	listener := &listening{Conn: conn}
	// crypto/tls reads the message. The error stops it before it answers.
	handshake := tls.Server(listener, &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		name = strings.ToLower(info.ServerName)
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

// listening is a connection that records what is read from it, sends nothing, and ends after
// longestHello bytes.
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

// Write drops the alert that crypto/tls sends when it stops.
func (l *listening) Write(b []byte) (int, error) { return len(b), nil }
