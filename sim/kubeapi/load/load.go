// Package load writes to an API server, simulated or real, at as little cost as can
// be. It stands between benchmarks and the server that they measure, whose processors it
// shares. Its one rule: what can be made before a request is, and what need not be read of
// an answer is skipped.
package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// The bodies that a Putter can send: the types that kube-apiserver takes from clients.
const (
	JSON     = runtime.ContentTypeJSON
	Protobuf = runtime.ContentTypeProtobuf
)

const (
	mark   = "node-0000000000" // in each request the digits are a number of its own
	digits = 10
)

// Putter sends one PUT of an EndpointSlice after the other on a connection of its own.
type Putter struct {
	conn    net.Conn
	answers *bufio.Reader
	request []byte
	number  []byte // the digits inside request
}

// NewPutter makes a Putter of a slice that Slice has made and that the server has. The
// token may be empty; the media type is that of the requests and of their answers.
func NewPutter(conn net.Conn, slice *discoveryv1.EndpointSlice, mediaType, token string) (*Putter, error) {
	body, err := encode(slice, mediaType)
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, "PUT /apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\n",
		slice.Namespace, slice.Name, conn.RemoteAddr())
	request := fmt.Appendf(head, "%sContent-Type: %s\r\nAccept: %[2]s\r\nContent-Length: %d\r\n\r\n%s", authorization(token), mediaType, len(body), body)
	at := bytes.Index(request, []byte(mark)) + len(mark) - digits
	return &Putter{conn, bufio.NewReaderSize(conn, 16<<10), request, request[at : at+digits]}, nil
}

// authorization is the header line of a token, empty without one.
func authorization(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token + "\r\n"
}

func encode(slice *discoveryv1.EndpointSlice, mediaType string) ([]byte, error) {
	if mediaType == Protobuf {
		return runtime.Encode(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), slice)
	}
	return json.Marshal(slice)
}

// Put makes the slice differ from that with any other number, and waits for the answer. An
// answer that is no success is an error.
func (p *Putter) Put(n int64) error {
	for i := digits - 1; i >= 0; i-- {
		p.number[i] = byte('0' + n%10)
		n /= 10
	}
	if _, err := p.conn.Write(p.request); err != nil {
		return err
	}
	return skipAnswer(p.answers)
}

var (
	lengthHeader  = []byte("Content-Length: ")
	chunkedHeader = []byte("Transfer-Encoding: chunked")
)

// skipAnswer reads no more than the status and the length.
func skipAnswer(r *bufio.Reader) error {
	length, chunked, err := readHead(r)
	switch {
	case err != nil:
		return err
	case chunked:
		return skipChunks(r)
	}
	_, err = r.Discard(length)
	return err
}

// readHead reads a success up to its body, and how long that is.
func readHead(r *bufio.Reader) (length int, chunked bool, err error) {
	status, err := r.ReadSlice('\n')
	if err == nil && !bytes.HasPrefix(status, []byte("HTTP/1.1 2")) {
		err = fmt.Errorf("answer %q", status)
	}
	for err == nil {
		var line []byte
		if line, err = r.ReadSlice('\n'); len(line) == 2 {
			return length, chunked, err
		}
		if rest, ok := bytes.CutPrefix(line, lengthHeader); ok {
			for _, c := range bytes.TrimSpace(rest) {
				length = 10*length + int(c-'0')
			}
		}
		chunked = chunked || bytes.HasPrefix(line, chunkedHeader)
	}
	return 0, false, err
}

func skipChunks(r *bufio.Reader) error {
	for {
		size, err := readChunkSize(r)
		if err != nil {
			return err
		}
		if _, err := r.Discard(size + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}

// readChunkSize reads the line before a chunk.
func readChunkSize(r *bufio.Reader) (int, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
	if err != nil {
		return 0, fmt.Errorf("chunk of size %q: %w", line, err)
	}
	return int(size), nil
}
