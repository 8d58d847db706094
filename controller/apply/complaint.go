package apply

import (
	"fmt"
	"strings"
)

// Complaint is what nginx's Lua said against something that it was sent: that
// there is no memory for it, or that it took the place of something else. In
// the end it may have taken it all the same.
type Complaint struct {
	Path string // of the POST
	Text string // one line
}

// notTaken is an answer other than 201.
type notTaken struct {
	status string // such as 400 Bad Request
	said   string
}

func (n *notTaken) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("nginx answered %s instead of 201: %s", n.status, n.said), ": ")
}

// reason is what Lua said, or the status where it said nothing: nginx's own
// answers are pages for browsers.
func (n *notTaken) reason() string {
	if n.said == "" || strings.ContainsAny(n.said, "<\n") {
		return n.status
	}
	return n.said
}
