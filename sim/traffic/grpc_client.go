package traffic

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// grpcClient makes gRPC calls from requests. It is net/http's HTTP/2 client with gRPC's frames
// (gRPC over HTTP/2), because a gRPC library connects, waits and retries by itself and does not
// report what happened on the wire. Like a gRPC library it keeps one connection to each host and
// repeats requests that the server has not processed, which is counted.
type grpcClient struct {
	*http.Transport
	method string
}

func newGRPCClient(method string) func(*dialer, Attack) transport {
	return func(d *dialer, _ Attack) transport {
		return traced{grpcClient{method: method, Transport: &http.Transport{
			DialContext:        d.dialTo,
			TLSClientConfig:    anyCertificate(),
			ForceAttemptHTTP2:  true,
			DisableCompression: true,
		}}}
	}
}

func (c grpcClient) RoundTrip(r *http.Request) (*http.Response, error) {
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

// readGRPC reads the messages of an answer, then its status, which comes last.
func readGRPC(response *http.Response, _ Attack) (c content) {
	for {
		message, err := readGRPCMessage(response.Body)
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

// maxGRPCMessage bounds the bytes of a message: an identity takes a few hundred.
const maxGRPCMessage = 1 << 16

// readGRPCMessage reads one message. It returns io.EOF if the stream ends between two messages.
func readGRPCMessage(r io.Reader) (string, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if head[0] != 0 || size > maxGRPCMessage {
		return "", garbledError{fmt.Errorf("not a gRPC message: flags %d, %d bytes", head[0], size)}
	}
	message := make([]byte, size)
	if _, err := io.ReadFull(r, message); err != nil {
		return "", errors.Join(err, io.ErrUnexpectedEOF)
	}
	var value wrapperspb.StringValue
	if err := proto.Unmarshal(message, &value); err != nil {
		return "", garbledError{fmt.Errorf("not a gRPC message: %w", err)}
	}
	return value.GetValue(), nil
}
