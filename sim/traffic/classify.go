package traffic

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// outcome is all that is known of a request that is over.
type outcome struct {
	err    error // of sending, or of reading the answer to its end
	reused bool  // the connection had served before
	idled  bool  // … or had at least waited in the pool
	began  bool  // at least one byte of an answer came
	over   bool  // the server ended the connection, by FIN or RST

	shown     *x509.Certificate // over TLS
	handshake error             // of TLS

	plain    bool // no HTTP: there is no status
	status   int
	identity backend.Identity // of the headers
	body     []byte

	flaw     string // what is wrong with the contents, as the lane saw it
	failed   string // the failure that the answer tells of, besides its status
	messages int    // of a stream
	stream   bool
	took     time.Duration

	wantBody    string // checksum of what was sent
	wantService string
	wantHost    string
}

// classify names the one cause of a failed request and says in a few words
// what was seen; both are empty when the request did not fail.
func classify(o outcome) (event.Cause, string) {
	if o.err == nil {
		return classifyAnswer(o)
	}
	cause := classifyError(o)
	if o.stream && o.began && cause != event.OurCancel && cause != event.Timeout && (o.over || isClosed(o.err) || isCut(o.err)) {
		return event.StreamCut, fmt.Sprintf("after %v and %d messages: %v", o.took.Round(time.Millisecond), o.messages, o.err)
	}
	return cause, o.err.Error()
}

// classifyAnswer judges an answer that is there to its last byte. Who answered
// comes before what: the error of a pod that should not have been asked is not
// that pod's.
func classifyAnswer(o outcome) (event.Cause, string) {
	aPod := o.identity.Pod != ""
	status := fmt.Sprintf("status %d", o.status)
	if o.shown != nil {
		if err := o.shown.VerifyHostname(o.wantHost); err != nil {
			return event.WrongCert, err.Error()
		}
	}
	switch {
	case aPod && o.wantService != "" && o.identity.Service != o.wantService:
		return event.WrongPod, fmt.Sprintf("%s answered, a pod of %s", o.identity.Pod, o.identity.Service)
	case aPod && !o.stream && o.identity.State == backend.Gone: // a stream may have begun before
		return event.GonePod, fmt.Sprintf("%s answered, and was gone when it was asked", o.identity.Pod)
	case o.plain:
	case o.failed != "" && aPod:
		return event.PodError, o.failed
	case o.failed != "":
		return event.NginxError, o.failed
	case o.status >= 500 && aPod:
		return event.PodError, status
	case o.status >= 500:
		return event.NginxError, status
	case o.status == http.StatusNotFound && !aPod:
		return event.NotFound, status
	case o.stream && o.status == http.StatusSwitchingProtocols && aPod:
	case (o.status < 200 || o.status >= 300) && aPod:
		return event.PodOther, status
	case o.status < 200 || o.status >= 300:
		return event.NginxOther, status
	}
	if flaw := flaw(o); flaw != "" {
		return event.Corrupted, flaw
	}
	return "", ""
}

// flaw says what is wrong with the contents of a successful answer.
func flaw(o outcome) string {
	if o.flaw != "" {
		return o.flaw
	}
	if o.identity.Pod == "" {
		return "the answer does not say which pod gave it"
	}
	if o.plain || o.status == http.StatusSwitchingProtocols {
		return "" // what follows is not HTTP; the lane has looked at it
	}
	if o.identity.Body != o.wantBody {
		return fmt.Sprintf("the pod got a body with checksum %s, sent was %s", o.identity.Body, o.wantBody)
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

// classifyError judges a request without a whole answer.
func classifyError(o outcome) event.Cause {
	switch {
	case errors.Is(o.err, errEnded), errors.Is(o.err, context.Canceled):
		return event.OurCancel
	case isTimeout(o.err):
		return event.Timeout
	case isDialing(o.err):
		return classifyDial(o.err)
	case errors.Is(o.err, syscall.ECONNREFUSED): // of a datagram
		return event.Refused
	case o.began && (o.over || isCut(o.err) || errors.Is(o.err, io.ErrUnexpectedEOF)): // whatever the parser made of a half line
		return event.Truncated
	case o.began: // what came is not HTTP
		return event.Corrupted
	case errors.Is(o.err, syscall.ECONNRESET), isCut(o.err):
		return event.Reset
	case o.handshake != nil && !isClosed(o.err):
		return event.Handshake
	case (o.over || isClosed(o.err)) && o.idled:
		return event.IdleClose
	case o.over || isClosed(o.err):
		return event.EOF
	}
	return event.Unknown
}

// classifyDial judges an error of opening a connection. A reset in the
// handshake means that the listener went while we stood in its queue.
func classifyDial(err error) event.Cause {
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return event.Refused
	}
	return event.OurDialing
}

// isCut says that one stream of an HTTP/2 connection was ended by RST_STREAM.
func isCut(err error) bool { return errors.As(err, &http2.StreamError{}) }

func isDialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// isClosed says that the server closed the connection in good order: its FIN
// came, read as EOF. Writing on after a FIN is answered by an RST, which Linux
// reports as EPIPE then, and only then (tcp_reset in CLOSE_WAIT).
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) ||
		// http.Transport's word for a FIN on a connection that it had not yet
		// used: an error without a name, see errServerClosedIdle.
		strings.Contains(err.Error(), "server closed idle connection")
}
