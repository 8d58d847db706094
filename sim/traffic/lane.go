package traffic

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"
)

// lane is a kind of client: how it makes a request and over what it sends it.
type lane struct {
	name   string
	doc    string // what a request is; docs/scenarios.md has the same text
	method string
	door   Door // of nginx, that the client comes to
	// ownPaths says that the paths are the protocol's: only whole hosts can be targets.
	ownPaths bool
	// body makes a request's body; nil: requests have none.
	body func(*rand.Rand) []byte
	// grow makes what is sent of that body, where the body is but its seed; nil: it is sent as it is.
	grow func(Attack, []byte) *upload
	// ask says what a pod is to do other than answer at once; nil: nothing.
	ask func(Attack) http.Header
	// read takes in the body of an answer; nil: readAll. What it returns is the
	// identity that stands in the body.
	read func(response *http.Response, a Attack) content
	// lasts says that the client makes a request last for Attack.Last.
	lasts bool
	// stream says that an answer is a stream: what ends it early cuts it.
	stream bool
	// transport makes the client; it keeps at most Attack.MaxInFlight
	// connections open that have nothing to do. It reports through
	// net/http/httptrace.
	transport func(d *dialer, a Attack) transport
	// talk is what a lane says over a connection of its own in HTTP's place; nil:
	// it speaks HTTP. What it returns is the last identity that was heard.
	talk func(ctx context.Context, c net.Conn, a Attack) content
}

// open makes the lane's client.
func (l lane) open(d *dialer, a Attack) transport {
	if l.talk != nil {
		return &http.Transport{} // is never asked
	}
	return l.transport(d, a)
}

// content is what was read of an answer.
type content struct {
	identity []byte // JSON
	messages int    // of a stream
	flaw     string // what is wrong with it, although it is whole
	failed   string // the failure that the answer tells of, where its HTTP status does not
	err      error  // why it is not whole
}

func readAll(response *http.Response, _ Attack) content {
	body, err := io.ReadAll(response.Body)
	return content{identity: body, err: err}
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
	fresh,
	slow,
	uploading,
	downloading,
	serverSent,
	websockets,
	handshaking,
	calling,
	watching,
	lineByLine,
	datagrams,
	waiting,
}

// Lanes are the names of all lanes.
func Lanes() []string {
	names := make([]string, len(lanes))
	for i, l := range lanes {
		names[i] = l.name
	}
	return names
}

// DocOf describes a request of a lane; empty if there is no such lane.
func DocOf(name string) string {
	l, _ := find(name)
	return l.doc
}

// StreamLanes are the names of those that come to services over TCP and UDP
// themselves.
func StreamLanes() []string {
	return slices.DeleteFunc(Lanes(), func(name string) bool { return DoorOf(name) < TCP })
}

func find(name string) (lane, bool) {
	for _, l := range lanes {
		if l.name == name {
			return l, true
		}
	}
	return lane{}, false
}

// keepAlive is the client of most lanes.
func keepAlive(d *dialer, a Attack) transport {
	return &http.Transport{
		DialContext:         d.dial,
		MaxIdleConnsPerHost: a.MaxInFlight,
		IdleConnTimeout:     90 * time.Second, // as http.DefaultTransport
		DisableCompression:  true,             // the answer's bytes as the pod sent them
	}
}
