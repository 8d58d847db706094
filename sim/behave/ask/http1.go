package ask

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strings"
	"syscall"
	"time"

	"windtunnel.dev/sim/behave"
)

const (
	maxBody = 16 << 20 // of an answer, in bytes
	maxHead = 1 << 20  // of an answer, in bytes
	// continueDelay is how long the client waits for 100 Continue before it sends the body anyway
	// (RFC 9110, section 10.1.1: not indefinitely).
	continueDelay = time.Second
)

// roundTrip1 sends a request of HTTP/1.
func (c *call) roundTrip1(ctx context.Context, on *connection, e *behave.Exchange) error {
	defer whenDone(ctx, on)()
	watch := startWatch()
	sent := c.write(on, c.withCookies())
	keep, err := readAnswer(on.reader, c.method, e, sent.proceed)
	watch.stop(e)
	sent.abandon()
	if err != nil || !c.keepAlive {
		on.close() // ends the writing of a body that the server did not read
	}
	<-sent.done
	switch {
	case isEnd(err) && errors.Is(sent.err, syscall.ECONNRESET):
		return sent.err // Linux reports the reset to the reader or the writer; the other sees a closed connection
	case err != nil:
		return err
	case !keep:
		on.ended = "the server closed the connection after the previous answer"
	case sent.err != nil || sent.abandoned:
		on.ended = "the server answered the previous request before it had read it"
	}
	return nil
}

// sending is a request that is being written.
type sending struct {
	done      chan struct{} // closed when the writing is over
	err       error
	abandoned bool          // the body was not sent
	proceeds  chan struct{} // closed when the server asks for the body
	answered  chan struct{} // closed when the answer is complete
	conn      io.Writer
}

// proceed says that the server sent 100 Continue.
func (s *sending) proceed() {
	select {
	case <-s.proceeds:
	default:
		close(s.proceeds)
	}
}

// abandon reports that the answer has arrived: a body that still waits for 100 Continue is not
// sent.
func (s *sending) abandon() { close(s.answered) }

// write sends a request in another goroutine, so that an answer is read while the body is sent.
func (c *call) write(to io.Writer, fields []field) *sending {
	s := &sending{done: make(chan struct{}), proceeds: make(chan struct{}), answered: make(chan struct{}), conn: to}
	go func() {
		defer close(s.done)
		s.err = c.writeTo(s, fields)
	}()
	return s
}

func (c *call) writeTo(s *sending, fields []field) error {
	w := bufio.NewWriterSize(s.conn, maxDatagram)
	fmt.Fprintf(w, "%s %s HTTP/%s\r\n", c.method, c.target, c.versionOnWire())
	for _, f := range fields {
		fmt.Fprintf(w, "%s: %s\r\n", f.name, f.value)
	}
	if err := s.pause(w, c.pause.Headers); err != nil {
		return err
	}
	w.WriteString("\r\n")
	if !c.hasBody || c.webSocket {
		return w.Flush()
	}
	if slices.ContainsFunc(fields, func(f field) bool { return f.is("Expect") && strings.EqualFold(f.value, "100-continue") }) {
		if err := w.Flush(); err != nil {
			return err
		}
		timer := time.NewTimer(continueDelay)
		defer timer.Stop()
		select {
		case <-s.proceeds:
		case <-timer.C:
		case <-s.answered:
			s.abandoned = true
			return nil
		}
	}
	if !c.chunked {
		if err := c.writeBody(s, w, w); err != nil {
			return err
		}
		return w.Flush()
	}
	chunks := httputil.NewChunkedWriter(w)
	if err := c.writeBody(s, w, chunks); err != nil {
		return err
	}
	chunks.Close() // writes to w, whose Flush returns its error
	w.WriteString("\r\n")
	return w.Flush()
}

// writeBody writes the body to a writer of w, with a pause in its middle if the case says so.
func (c *call) writeBody(s *sending, w *bufio.Writer, to io.Writer) error {
	body := c.body()
	if c.pause.Body > 0 {
		if _, err := io.CopyN(to, body, c.length/2); err != nil {
			return err
		}
		if err := s.pause(w, c.pause.Body); err != nil {
			return err
		}
	}
	_, err := io.Copy(to, body)
	return err
}

// pause sends what was written so far and waits. The wait ends early if an answer arrives or the
// connection ends.
func (s *sending) pause(w *bufio.Writer, d time.Duration) error {
	if d == 0 {
		return nil
	}
	if err := w.Flush(); err != nil {
		return err
	}
	wait(d, s.answered)
	return nil
}

// wait waits for a time, or until done is closed.
func wait(d time.Duration, done <-chan struct{}) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

// versionOnWire returns the HTTP version of the request line: 1.1 also if the server did not choose HTTP/2.
func (c *call) versionOnWire() string {
	if c.version == "1.0" {
		return c.version
	}
	return "1.1"
}

// readAnswer reads the answer to a request with a method, after informational ones. keep reports
// whether the connection can be used again. After an error, e has the part that arrived before it.
//
// http.ReadResponse decides how long the body is. It is not given the body: the header that it
// returns lacks Transfer-Encoding, Trailer and repeated lengths, and has a Cache-Control for
// "Pragma: no-cache".
func readAnswer(r *bufio.Reader, method string, e *behave.Exchange, proceed func()) (keep bool, err error) {
	for {
		head, err := readHead(r)
		if err != nil {
			return false, err
		}
		answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: method})
		if err != nil {
			return false, malformed(err)
		}
		answer.Body.Close() // empty: the body is still in r
		if answer.StatusCode == http.StatusContinue {
			proceed()
		}
		if answer.StatusCode < 200 && answer.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		e.Status, e.Protocol = answer.StatusCode, answer.Proto
		_, lines, _ := bytes.Cut(head, []byte("\n"))
		if e.Header, err = parseFields(lines); err != nil {
			return false, malformed(err)
		}
		return !answer.Close, readBody(r, answer, e)
	}
}

func readBody(r *bufio.Reader, answer *http.Response, e *behave.Exchange) (err error) {
	switch {
	case answer.Body == http.NoBody: // HEAD, 1xx, 204, 304 or no length
		return nil
	case slices.Contains(answer.TransferEncoding, "chunked"):
		if e.Body, err = readUpTo(httputil.NewChunkedReader(r)); err != nil {
			return err
		}
		lines, err := readHead(r)
		if err != nil {
			return truncated(err)
		}
		if e.Trailer, err = parseFields(lines); err != nil {
			return malformed(err)
		}
		if len(e.Trailer) == 0 {
			e.Trailer = nil
		}
		return nil
	case answer.ContentLength >= 0:
		e.Body, err = readUpTo(io.LimitReader(r, answer.ContentLength))
		if err == nil && int64(len(e.Body)) < answer.ContentLength {
			return fmt.Errorf("%d of %d bytes of the body: %w", len(e.Body), answer.ContentLength, io.ErrUnexpectedEOF)
		}
		return err
	}
	e.Body, err = readUpTo(r)
	return err
}

// readUpTo reads a body, which may not exceed maxBody.
func readUpTo(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if len(body) > maxBody {
		return nil, unjudgeable{fmt.Errorf("the body of the answer is larger than %d MiB", maxBody>>20)}
	}
	return body, err
}

// readHead reads up to a blank line, which it includes.
func readHead(r *bufio.Reader) ([]byte, error) {
	var head []byte
	begin := 0 // of the line in head
	for {
		part, err := r.ReadSlice('\n')
		head = append(head, part...)
		switch {
		case len(head) > maxHead:
			return nil, malformed(fmt.Errorf("more than %d bytes of header", maxHead))
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(head) > 0:
			return nil, truncated(err)
		case err != nil:
			return nil, err
		}
		if line := head[begin:]; len(line) == 1 || string(line) == "\r\n" {
			return head, nil
		}
		begin = len(head)
	}
}

func parseFields(lines []byte) (http.Header, error) {
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(lines))).ReadMIMEHeader()
	return http.Header(header), err
}

// truncated turns the end of a stream into an error that says that the stream ended too early.
func truncated(err error) error {
	if isEnd(err) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
