package traffic

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// outcome is all that is known about a finished request.
type outcome struct {
	err     error // of sending, or of reading the answer to its end
	by      ender // which of our own deadlines ended it, if any
	retries int   // how often the client repeated it
	reused  bool  // the connection had served before
	idled   bool  // the connection had served before, or waited in the pool
	began   bool  // at least one byte of an answer came
	over    bool  // the server ended the connection, by FIN or RST

	shown     *x509.Certificate // over TLS
	handshake error             // of TLS

	noHTTP   bool // the lane does not speak HTTP: there is no status
	status   int
	identity backend.Identity // of the headers; without HTTP: of the last answer
	body     []byte

	flaw     string // what is wrong with the contents, as the lane saw it
	failed   string // the failure that the answer reports, besides its status
	messages int    // of a stream
	stream   bool
	took     time.Duration

	anonymous   bool   // pods do not name themselves
	wantBody    string // checksum of what was sent
	wantService string
	wantHost    string
}

// ender says which of our own deadlines had passed when a request ended. The error text for a
// connection that we closed differs between libraries, so the deadlines decide, not the text.
type ender int

const (
	byNobody  ender = iota // none of ours
	byRun                  // the run and its grace period are over
	byTimeout              // the request's own time is over
)

// whoEnded checks the context of the run, then that of the request.
func whoEnded(run, request context.Context) ender {
	switch {
	case run.Err() != nil:
		return byRun
	case request.Err() != nil:
		return byTimeout
	}
	return byNobody
}

// classify returns the one cause of a failed request and describes in a few words what was
// seen; both are empty if the request did not fail.
func classify(o outcome) (event.Cause, string) {
	if o.err == nil {
		return classifyAnswer(o)
	}
	cause := classifyError(o)
	if o.stream && cause == event.Truncated {
		return event.StreamCut, fmt.Sprintf("after %v and %s: %v", o.took.Round(time.Millisecond), plural.Of(o.messages, "message"), o.err)
	}
	return cause, o.err.Error()
}

// classifyAnswer returns the cause of a complete answer. It first checks who answered and then what
// the answer says: an error of a pod that should not have been asked is not that pod's fault.
func classifyAnswer(o outcome) (event.Cause, string) {
	aPod := o.identity.Pod != ""
	status := func() string { return fmt.Sprintf("status %d", o.status) }
	if o.shown != nil {
		if err := o.shown.VerifyHostname(o.wantHost); err != nil {
			return event.WrongCert, err.Error()
		}
	}
	switch {
	case o.anonymous && o.status >= 500:
		return event.AnyError, status()
	case o.anonymous && o.status >= 400:
		return event.AnyOther, status()
	case o.anonymous:
		return "", ""
	case aPod && o.wantService != "" && o.identity.Service != o.wantService:
		return event.WrongPod, fmt.Sprintf("%s answered, a pod of %s", o.identity.Pod, o.identity.Service)
	case aPod && !o.stream && o.identity.State == backend.Gone: // a stream may have begun before
		return event.GonePod, fmt.Sprintf("%s answered, although it was gone when the request was sent", o.identity.Pod)
	case o.noHTTP:
	case o.failed != "" && aPod:
		return event.PodError, o.failed
	case o.failed != "":
		return event.NginxError, o.failed
	case o.status >= 500 && aPod:
		return event.PodError, status()
	case o.status >= 500:
		return event.NginxError, status()
	case o.status == http.StatusNotFound && !aPod:
		return event.NotFound, status()
	case o.stream && o.status == http.StatusSwitchingProtocols && aPod:
	case (o.status < 200 || o.status >= 300) && aPod:
		return event.PodOther, status()
	case o.status < 200 || o.status >= 300:
		return event.NginxOther, status()
	}
	if flaw := flaw(o); flaw != "" {
		return event.Corrupted, flaw
	}
	return "", ""
}

// flaw returns what is wrong with the contents of a successful answer, or "".
func flaw(o outcome) string {
	if o.flaw != "" {
		return o.flaw
	}
	if o.identity.Pod == "" {
		return "the answer does not say which pod gave it"
	}
	if o.noHTTP || o.status == http.StatusSwitchingProtocols {
		return "" // what follows is not HTTP; the lane has checked it
	}
	if o.identity.Body != o.wantBody {
		return fmt.Sprintf("the pod got a body with checksum %s, sent was %s", o.identity.Body, o.wantBody)
	}
	if o.identity.IsText(o.body) {
		return ""
	}
	inBody, err := backend.ParseIdentity(o.body)
	if err != nil {
		return err.Error()
	}
	if inBody != o.identity {
		return fmt.Sprintf("the answer's headers are of %+v, its body of %+v", o.identity, inBody)
	}
	return ""
}

// classifyError returns the cause of a request without a complete answer. It first
// checks whether we ended the request, whatever the error says. Each other cause needs
// evidence; an error that is not known here is Unknown, which is a defect of ours.
func classifyError(o outcome) event.Cause {
	switch {
	case o.by == byRun:
		return event.OurCancel
	case o.by == byTimeout, isTimeout(o.err):
		return event.Timeout
	case isDialing(o.err):
		return classifyDial(o.err)
	case errors.Is(o.err, syscall.ECONNREFUSED): // of a datagram
		return event.Refused
	case o.began && (o.over || isReset(o.err) || isClosed(o.err)): // whatever the parser says about an incomplete line
		return event.Truncated
	case o.handshake != nil && isOfTLS(o.handshake) && !isClosed(o.err):
		return event.Handshake
	case isGarbled(o.err):
		return event.Corrupted
	case o.began:
		return event.Unknown
	case isReset(o.err):
		return event.Reset
	case (o.over || isClosed(o.err)) && o.idled:
		return event.IdleClose
	case o.over || isClosed(o.err):
		return event.EOF
	}
	return event.Unknown
}

// classifyDial returns the cause of an error of opening a connection. A reset in the TCP handshake
// means that the listener closed while the connection waited in its queue.
func classifyDial(err error) event.Cause {
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return event.Refused
	}
	return event.OurDialing
}

// isReset reports whether the server ended a connection by an RST, or an HTTP/2 stream by
// RST_STREAM or GOAWAY (RFC 9113, sections 6.4 and 6.8). net/http exports no types for
// these errors of the peer.
func isReset(err error) bool {
	var stream http2.StreamError
	return errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "GOAWAY") ||
		errors.As(err, &stream) && stream.Cause != nil && stream.Cause.Error() == "received from peer"
}

// garbledError marks an error as caused by bytes that violate the lane's protocol. Lanes use it for
// protocols of which classify knows nothing. It does not change the error's text.
type garbledError struct{ error }

func (e garbledError) Unwrap() error { return e.error }

// isGarbled reports whether the received bytes violate the protocol. The parsers of
// net/http and of its HTTP/2 have no types for such errors, only texts.
func isGarbled(err error) bool {
	if errors.As(err, new(*net.OpError)) || errors.As(err, new(syscall.Errno)) || errors.Is(err, net.ErrClosed) {
		return false // an error of the connection, not of the bytes received over it
	}
	if errors.As(err, new(garbledError)) || errors.As(err, new(textproto.ProtocolError)) || errors.As(err, new(http2.ConnectionError)) {
		return true
	}
	var stream http2.StreamError
	if errors.As(err, &stream) {
		return stream.Code == http2.ErrCodeProtocol || stream.Code == http2.ErrCodeFlowControl || stream.Code == http2.ErrCodeFrameSize
	}
	return containsAny(err.Error(), garbledHTTP)
}

// garbledHTTP are texts of parser errors.
var garbledHTTP = []string{
	"malformed ", "invalid ", "bad Content-Length", "bad trailer key", "multiple Content-Length", "unsupported transfer encoding",
	"too large", "too long", "suspiciously long", "headers exceeded", "too much non-data", "bare LF", "empty hex number", // of HTTP
	"pseudo header", "more than declared Content-Length", // of HTTP/2
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// isOfTLS reports whether an error is one of the TLS handshake: an alert, an invalid
// record, a certificate that cannot be parsed.
func isOfTLS(err error) bool { return strings.Contains(err.Error(), "tls: ") }

func isDialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// isClosed reports whether the server closed the connection cleanly: its FIN came, which reads as
// EOF. The server answers writes after a FIN with an RST. Linux reports that RST as EPIPE, and
// reports EPIPE in no other case (tcp_reset in CLOSE_WAIT).
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) ||
		// How http.Transport reports a FIN on a connection that it had not yet
		// used: an unexported error, see errServerClosedIdle.
		strings.Contains(err.Error(), "server closed idle connection")
}
