package fault

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TooManyRequests answers 429. With retryAfter, in whole seconds, the answer has a Retry-After
// header and client-go repeats the request by itself. With 0 it has no such header and the caller
// gets the error.
func TooManyRequests(retryAfter time.Duration) Fault {
	return refusal("too-many-requests", nil, func(*Call) error {
		return later(errors.NewTooManyRequestsError("too many requests, please try again later"), retryAfter)
	})
}

// ServerError answers with a Status of code 500, 503 or 504, and with the
// Retry-After header if retryAfter is at least a second.
func ServerError(code int, retryAfter time.Duration) Fault {
	return refusal(fmt.Sprint("server-error-", code), nil, func(*Call) error { return later(serverError(code), retryAfter) })
}

// BadGateway answers 502 with a page of HTML, as a proxy in front of the server does.
func BadGateway() Fault {
	return Fault{Name: "bad-gateway", Serve: func(_ *Call, w http.ResponseWriter, _ func(http.ResponseWriter)) error {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		w.Write([]byte(page))
		return nil
	}}
}

// Unauthorized answers 401, as to an expired token. Open watches go on, because a real server
// does not check their tokens again.
func Unauthorized() Fault {
	return refusal("unauthorized", nil, func(*Call) error { return errors.NewUnauthorized("Unauthorized") })
}

// Forbidden answers 403, as when a role binding is gone.
func Forbidden() Fault {
	return refusal("forbidden", nil, func(c *Call) error {
		return errors.NewForbidden(c.GroupResource(), c.Name, stderrors.New("injected: not allowed to "+c.Verb))
	})
}

// Conflict answers updates and patches as if another writer had always changed the object first.
func Conflict() Fault {
	return refusal("conflict", func(c *Call) bool { return c.Verb == "update" || c.Verb == "patch" }, func(c *Call) error {
		return errors.NewConflict(c.GroupResource(), c.Name,
			stderrors.New("the object has been modified; please apply your changes to the latest version and try again"))
	})
}

// LeaseRefused answers writes of Leases with 500. A leader steps down if it cannot renew its
// Lease until the renew deadline.
func LeaseRefused() Fault {
	return refusal("lease-refused",
		func(c *Call) bool { return bare(c.Resource) == "leases.coordination.k8s.io" && c.Writes() },
		func(*Call) error { return serverError(500) })
}

// LostAcknowledgement executes a write and resets the connection instead of answering.
func LostAcknowledgement() Fault {
	return Fault{
		Name:    "lost-acknowledgement",
		Applies: func(c *Call) bool { return c.Writes() },
		Serve: func(c *Call, _ http.ResponseWriter, serve func(http.ResponseWriter)) error {
			serve(&discarded{header: http.Header{}})
			c.Reset()
			return nil
		},
	}
}

// Reset resets the connection instead of answering.
func Reset() Fault {
	return Fault{Name: "reset", Serve: func(c *Call, _ http.ResponseWriter, _ func(http.ResponseWriter)) error {
		c.Reset()
		return nil
	}}
}

// Delay delays the first byte of an answer.
func Delay(d time.Duration) Fault {
	return Fault{Name: "delay", Serve: func(c *Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		c.Wait(d)
		serve(w)
		return nil
	}}
}

// Drip sends answers and streams completely, but slowly: a few bytes at a time.
func Drip(bytes int, every time.Duration) Fault {
	return Fault{Name: "drip", Serve: func(c *Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		serve(&dripper{ResponseWriter: w, call: c, bytes: max(bytes, 1), every: every})
		return nil
	}}
}

// refusal is a fault that answers with an error instead of serving.
func refusal(name string, applies func(*Call) bool, answer func(*Call) error) Fault {
	return Fault{Name: name, Applies: applies, Serve: func(c *Call, _ http.ResponseWriter, _ func(http.ResponseWriter)) error {
		return answer(c)
	}}
}

func serverError(code int) *errors.StatusError {
	reasons := map[int]metav1.StatusReason{
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
		http.StatusGatewayTimeout:      metav1.StatusReasonTimeout,
	}
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    int32(code),
		Reason:  reasons[code],
		Message: "injected: " + http.StatusText(code),
	}}
}

// later adds a Retry-After value to err.
func later(err *errors.StatusError, retryAfter time.Duration) error {
	if seconds := int32(retryAfter / time.Second); seconds > 0 {
		if err.ErrStatus.Details == nil {
			err.ErrStatus.Details = &metav1.StatusDetails{}
		}
		err.ErrStatus.Details.RetryAfterSeconds = seconds
	}
	return err
}

const page = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>\r\n"

// discarded is the ResponseWriter for an answer that the client never gets.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d *discarded) WriteHeader(int)             {}

// dripper writes a few bytes at a time and waits after each write.
type dripper struct {
	http.ResponseWriter
	call  *Call
	bytes int
	every time.Duration
}

// Unwrap lets an http.ResponseController reach the connection.
func (d *dripper) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *dripper) Write(b []byte) (int, error) {
	sent := 0
	for sent < len(b) {
		n, err := d.ResponseWriter.Write(b[sent:min(sent+d.bytes, len(b))])
		sent += n
		if err != nil {
			return sent, err
		}
		if err := http.NewResponseController(d.ResponseWriter).Flush(); err != nil {
			return sent, err
		}
		d.call.Wait(d.every)
	}
	return sent, nil
}
