// Package load sends writes and watches to an API server, simulated or real, at the lowest possible
// cost. It stands between benchmarks and the server that they measure, which shares its processors.
// Its one rule: it prepares before a request whatever it can, and skips the parts of an answer that
// nobody needs.
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

// Media types of the bodies that a Putter can send: those that kube-apiserver accepts.
const (
	JSON     = runtime.ContentTypeJSON
	Protobuf = runtime.ContentTypeProtobuf
)

const (
	mark   = "node-0000000000" // each request has its own number in place of the digits
	digits = 10
)

// Putter sends PUT requests for an EndpointSlice, one after the other, over a connection of its
// own.
type Putter struct {
	conn    net.Conn
	answers *bufio.Reader
	request []byte
	number  []byte // the digits in request
}

// NewPutter returns a Putter for a slice that Slice made and that already exists on the server. The
// token may be empty. mediaType is the media type of the requests and of their answers.
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

// authorization returns the Authorization header line for a token, or nothing without a token.
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

// Put writes the number n into the slice, so that slices with different numbers differ, and waits
// for the answer. It returns an error if the answer is not a success.
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

// skipAnswer parses only the status and the length of an answer, and skips the rest.
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

// readHead reads the head of a successful answer, and returns the length of the body.
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

// readChunkSize reads the line before a chunk and returns the size of the chunk.
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
