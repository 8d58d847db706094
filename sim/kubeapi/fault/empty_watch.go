package fault

import "net/http"

// EmptyWatch accepts a watch and ends it at once without an event: what client-go
// calls a very short watch.
func EmptyWatch() Fault {
	return Fault{
		Name:    "empty-watch",
		Applies: func(c *Call) bool { return c.Watches() },
		Serve: func(_ *Call, w http.ResponseWriter, _ func(http.ResponseWriter)) error {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			return nil
		},
	}
}
