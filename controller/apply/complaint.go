package apply

import (
	"fmt"
	"strings"
)

// Complaint is a message of nginx's Lua about configuration that it received: there is no memory
// for it, or it evicted other data. nginx may still have accepted the configuration, immediately or
// in a later attempt.
type Complaint struct {
	Path string // of the POST, or "stream"
	Text string // one line
}

// refusal is the error of configuration that nginx's Lua received and rejected.
type refusal interface {
	error
	reason() string // in Lua's words
}

// postError is the error of a POST with a status other than 201.
type postError struct {
	status string // for example, 400 Bad Request
	body   string
}

func (r *postError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("nginx answered %s instead of 201: %s", r.status, r.body), ": ")
}

// reason returns Lua's message. It returns the status if there is none, or if the body is one of
// nginx's own HTML pages.
func (r *postError) reason() string {
	if r.body == "" || strings.ContainsAny(r.body, "<\n") {
		return r.status
	}
	return r.body
}

// streamError is the answer of the stream port to a line that it rejects.
type streamError struct{ answer string }

func (r *streamError) Error() string { return "nginx answered " + r.answer }

func (r *streamError) reason() string { return r.answer }
