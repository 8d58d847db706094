package fault

import "net/http"

// LostAcknowledgement carries a write out and resets the connection instead of answering.
func LostAcknowledgement() Fault {
	return Fault{
		Name:    "lost-acknowledgement",
		Applies: func(c *Call) bool { return c.Writes() },
		Serve: func(c *Call, _ http.ResponseWriter, serve func(http.ResponseWriter)) error {
			serve(&nowhere{header: http.Header{}})
			c.Reset()
			return nil
		},
	}
}

// nowhere is where an answer goes that nobody shall get.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) WriteHeader(int)             {}
