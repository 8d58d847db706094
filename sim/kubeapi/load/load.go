// Package load sends writes and watches to an API server, simulated or real, at the lowest possible
// cost. It stands between benchmarks and the server that they measure, which shares its processors.
// Its one rule: it prepares requests in advance, and skips the parts of an answer that nobody needs.
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
	mark   = "node-" + zeros // each update has its own number in place of the digits
	zeros  = "0000000000"
	digits = len(zeros)
)

// connection sends requests one after the other.
type connection struct {
	conn    net.Conn
	answers *bufio.Reader
}

func newConnection(conn net.Conn) connection {
	return connection{conn, bufio.NewReaderSize(conn, 16<<10)}
}

// request is a complete request with placeholders for a number; each send overwrites them.
type request struct {
	bytes   []byte
	numbers [][]byte // the digits in bytes
}

// send sends the request with the number n, and waits for the answer. It returns an error if the
// answer is not a success.
func (c connection) send(r request, n int64) error {
	for _, number := range r.numbers {
		left := n
		for i := digits - 1; i >= 0; i-- {
			number[i] = byte('0' + left%10)
			left /= 10
		}
	}
	if _, err := c.conn.Write(r.bytes); err != nil {
		return err
	}
	return skipAnswer(c.answers)
}

// newRequest returns a request whose number replaces the zeros at the end of each mark in the body: of
// the first count marks, or of all if count is -1.
func (c connection) newRequest(method, path string, obj runtime.Object, mediaType, token, mark string, count int) (request, error) {
	body, err := encode(obj, mediaType)
	if err != nil {
		return request{}, err
	}
	head := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\n", method, path, c.conn.RemoteAddr())
	r := request{bytes: fmt.Appendf(head, "%sContent-Type: %s\r\nAccept: %[2]s\r\nContent-Length: %d\r\n\r\n%s", authorization(token), mediaType, len(body), body)}
	for rest := r.bytes; count != 0; count-- {
		at := bytes.Index(rest, []byte(mark))
		if at < 0 {
			break
		}
		rest = rest[at+len(mark)-digits:]
		r.numbers = append(r.numbers, rest[:digits])
	}
	return r, nil
}

// Putter sends PUT requests for an EndpointSlice, one after the other, over a connection of its
// own.
type Putter struct {
	connection
	request request
}

// NewPutter returns a Putter for a slice that Slice made and that already exists on the server. The
// token may be empty. mediaType is the media type of the requests and of their answers.
func NewPutter(conn net.Conn, slice *discoveryv1.EndpointSlice, mediaType, token string) (*Putter, error) {
	p := &Putter{connection: newConnection(conn)}
	path := fmt.Sprintf("/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s", slice.Namespace, slice.Name)
	var err error
	p.request, err = p.newRequest("PUT", path, slice, mediaType, token, mark, 1)
	return p, err
}

// Put writes the number n into the slice, so that slices with different numbers differ, and waits
// for the answer. It returns an error if the answer is not a success.
func (p *Putter) Put(n int64) error { return p.send(p.request, n) }

// authorization returns the Authorization header line for a token, or nothing without a token.
func authorization(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token + "\r\n"
}

func encode(obj runtime.Object, mediaType string) ([]byte, error) {
	if mediaType == Protobuf {
		return runtime.Encode(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), obj)
	}
	return json.Marshal(obj)
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
