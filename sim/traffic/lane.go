package traffic

import (
	"math/rand/v2"
	"net/http"
)

// lane is a kind of client: how it makes a request and over what it sends it.
type lane struct {
	name   string
	method string
	// body makes a request's body; nil: requests have none.
	body func(*rand.Rand) []byte
	// transport makes the client; it keeps at most idle connections open
	// that have nothing to do. It reports through net/http/httptrace.
	transport func(d *dialer, idle int) transport
}

// transport is what sends the requests of one attack.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// lanes is the table: one file and one row each.
var lanes = []lane{
	replaying,
	nonReplaying,
}

// Lanes are the names of all lanes.
func Lanes() []string {
	names := make([]string, len(lanes))
	for i, l := range lanes {
		names[i] = l.name
	}
	return names
}

func find(name string) (lane, bool) {
	for _, l := range lanes {
		if l.name == name {
			return l, true
		}
	}
	return lane{}, false
}
