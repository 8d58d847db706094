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
	if !c.isLast() {
		c.keep()
	}
	length := int64(c.head.ContentLength())
	return &http.Response{
		StatusCode: http.StatusOK, Header: c.last, ContentLength: length, Close: c.head.ConnectionClose(),
		Body: &exactly{c.reader, length},
	}
}

// plainHead is the state that readPlain keeps between answers.
type plainHead struct {
	head fasthttp.ResponseHeader
	last http.Header // identityHeaders; the next answers of the same pod share it
}

// isLast reports whether the identity in head is that of the last answer.
func (h *plainHead) isLast() bool {
	for _, name := range identityHeaders {
		value, last := h.head.Peek(name), h.last[name] // which are canonical names
		if len(value) == 0 && last == nil || len(last) == 1 && string(value) == last[0] {
			continue
		}
		return false
	}
	return true
}

// keep makes the identity in head that of the last answer.
func (h *plainHead) keep() {
	h.last = make(http.Header, len(identityHeaders))
	for _, name := range identityHeaders {
		if value := h.head.Peek(name); len(value) > 0 {
			h.last[name] = []string{string(value)}
		}
	}
}

// exactly reads n bytes. If there are fewer, the answer is cut off.
type exactly struct {
	from io.Reader
	n    int64
}

// Close implements io.Closer.
func (e *exactly) Close() error { return nil }

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
