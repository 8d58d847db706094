package traffic

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// called makes gRPC calls of requests. It is net/http's HTTP/2 client with
// gRPC's frames (gRPC over HTTP/2), because a gRPC library connects, waits and
// retries by itself and keeps to itself what happened on the wire. Like one, it
// keeps one connection to each host and sends what the server has not
// processed again, which is counted.
type called struct {
	*http.Transport
	method string
}

func call(method string) func(*dialer, Attack) transport {
	return func(d *dialer, _ Attack) transport {
		return called{method: method, Transport: &http.Transport{
			DialContext:        d.dialTo,
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, // classify looks at the certificate
			ForceAttemptHTTP2:  true,
			DisableCompression: true,
		}}
	}
}

func (c called) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	message, err := proto.Marshal(wrapperspb.Bytes(body))
	if err != nil {
		return nil, err
	}
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	r = r.Clone(r.Context())
	r.URL = &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: c.method}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	r.ContentLength = int64(len(frame))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
	r.Body, _ = r.GetBody()
	return c.Transport.RoundTrip(r)
}

// readCall reads the messages of an answer, and its status, which comes last.
func readCall(response *http.Response, _ Attack) (c content) {
	for {
		message, err := readFrame(response.Body)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.err = err
			return c
		}
		c.identity, c.messages = []byte(message), c.messages+1
	}
	// An answer without messages may have its status in the head.
	status := cmp.Or(response.Trailer.Get("Grpc-Status"), response.Header.Get("Grpc-Status"))
	switch status {
	case "0":
	case "":
		c.err = fmt.Errorf("the call ended without a status: %w", io.ErrUnexpectedEOF)
	default:
		c.failed = fmt.Sprintf("grpc-status %s %s", status, cmp.Or(response.Trailer.Get("Grpc-Message"), response.Header.Get("Grpc-Message")))
	}
	return c
}

// mostMessage bounds what is read at once: an identity takes a few hundred bytes.
const mostMessage = 1 << 16

// readFrame reads one message; io.EOF is the end between two.
func readFrame(r io.Reader) (string, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if head[0] != 0 || size > mostMessage {
		return "", fmt.Errorf("%w: flags %d, %d bytes", errNoFrame, head[0], size)
	}
	message := make([]byte, size)
	if _, err := io.ReadFull(r, message); err != nil {
		return "", errors.Join(err, io.ErrUnexpectedEOF)
	}
	var value wrapperspb.StringValue
	if err := proto.Unmarshal(message, &value); err != nil {
		return "", fmt.Errorf("%w: %w", errNoFrame, err)
	}
	return value.GetValue(), nil
}

var errNoFrame = errors.New("not a gRPC message")
