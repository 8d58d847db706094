package traffic

import (
	"bytes"
	"io"
	"net/http"

	"github.com/valyala/fasthttp"

	"windtunnel.dev/sim/backend"
)

var (
	headEnd         = []byte("\r\n\r\n")
	hasLength       = []byte("\r\nContent-Length: ")
	hasEncoding     = []byte("\r\nTransfer-Encoding:")
	succeeds        = []byte("HTTP/1.1 200 ")
	identityHeaders = []string{backend.PodHeader, backend.ServiceHeader, backend.StateHeader, backend.BodyHeader}
)

// readPlain reads the head of a plain answer, which most are: status 200, of a known length, and
// already received. It is much faster than net/http. It returns nil, and has read nothing, for any
// other answer. The answer has only those headers that say which pod gave it.
func (c *connection) readPlain() *http.Response {
	received, _ := c.reader.Peek(c.reader.Buffered()) // cannot fail
	end := bytes.Index(received, headEnd)
	if end < 0 || !bytes.HasPrefix(received, succeeds) || !bytes.Contains(received[:end], hasLength) || bytes.Contains(received[:end], hasEncoding) {
		return nil
	}
	if err := c.head.Read(c.reader); err != nil {
		return nil // it has read nothing; net/http's error says what is wrong
	}
	header := make(http.Header, len(identityHeaders))
	for i, name := range identityHeaders {
		value := c.head.Peek(name)
		if len(value) == 0 {
			continue
		}
		if string(value) != c.last[i] {
			c.last[i] = string(value) // the next answers of the pod share it
		}
		header[name] = []string{c.last[i]}
	}
	length := int64(c.head.ContentLength())
	return &http.Response{
		StatusCode: http.StatusOK, Header: header, ContentLength: length, Close: c.head.ConnectionClose(),
		Body: io.NopCloser(&exactly{c.reader, length}),
	}
}

// plainHead is what readPlain keeps from one answer to the next.
type plainHead struct {
	head fasthttp.ResponseHeader
	last [4]string // values of identityHeaders
}

// exactly reads n bytes. If there are fewer, the answer is cut off.
type exactly struct {
	from io.Reader
	n    int64
}

func (e *exactly) Read(b []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n, err := e.from.Read(b[:min(int64(len(b)), e.n)])
	e.n -= int64(n)
	if err == io.EOF && e.n > 0 { //nolint:errorlint // readers return it as it is
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
