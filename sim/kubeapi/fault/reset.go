package fault

import "net/http"

// Reset resets the connection instead of answering.
func Reset() Fault {
	return Fault{Name: "reset", Serve: func(c *Call, _ http.ResponseWriter, _ func(http.ResponseWriter)) error {
		c.Reset()
		return nil
	}}
}
