package fault

import (
	"net/http"
	"time"
)

// Delay keeps a client waiting for the first byte of an answer.
func Delay(d time.Duration) Fault {
	return Fault{Name: "delay", Serve: func(c *Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		c.Wait(d)
		serve(w)
		return nil
	}}
}
