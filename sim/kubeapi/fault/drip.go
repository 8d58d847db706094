package fault

import (
	"net/http"
	"time"
)

// Drip sends answers and streams a few bytes at a time: all of them, but slowly.
func Drip(bytes int, every time.Duration) Fault {
	return Fault{Name: "drip", Serve: func(c *Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		serve(&dripper{ResponseWriter: w, call: c, bytes: max(bytes, 1), every: every})
		return nil
	}}
}

type dripper struct {
	http.ResponseWriter
	call  *Call
	bytes int
	every time.Duration
}

// Unwrap lets an http.ResponseController reach what it needs.
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
