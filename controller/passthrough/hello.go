package passthrough

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
)

// longestHello is the maximum number of bytes read to find the name: the size of the largest TLS
// record. Browsers send the name in their first record.
const longestHello = 16 << 10

var errRead = errors.New("the name is read")

// readHello returns the server name in a client's first message, in lower case, and the bytes that
// it read to find it. The name is empty if the message is not TLS or longer than longestHello. An
// error comes from the connection.
func readHello(conn net.Conn) (name string, hello []byte, err error) {
	recording := &recorder{Conn: conn}
	// crypto/tls reads the message. The error stops it before it answers.
	handshake := tls.Server(recording, &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		name = strings.ToLower(info.ServerName)
		return nil, errRead
	}})
	err = handshake.Handshake()
	if recording.failed != nil {
		return "", nil, recording.failed
	}
	if !errors.Is(err, errRead) {
		name = ""
	}
	return name, recording.recorded.Bytes(), nil
}

// recorder is a connection that records the bytes read from it, sends nothing, and ends after
// longestHello bytes.
type recorder struct {
	net.Conn
	recorded bytes.Buffer
	failed   error
}

func (r *recorder) Read(b []byte) (int, error) {
	left := longestHello - r.recorded.Len()
	if left == 0 {
		return 0, io.EOF
	}
	n, err := r.Conn.Read(b[:min(len(b), left)])
	r.recorded.Write(b[:n])
	if err != nil && !(errors.Is(err, io.EOF) && r.recorded.Len() > 0) {
		r.failed = err
	}
	return n, err
}

// Write drops the alert that crypto/tls sends when it stops.
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
