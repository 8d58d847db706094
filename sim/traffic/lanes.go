package traffic

import (
	"context"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"
)

// lanes is the table of lanes: a row here and a file lane_NAME.go each.
var lanes = []lane{
	httpLane,
	postLane,
	freshLane,
	slowLane,
	uploadLane,
	downloadLane,
	sseLane,
	websocketLane,
	tlsLane,
	grpcLane,
	grpcStreamLane,
	tcpLane,
	udpLane,
	udpSlowLane,
}

// lane is one kind of client.
type lane struct {
	name     string
	doc      string // describes a request; docs/scenarios.md has the same text
	listener Listener
	// lasts means that the client makes each request last for Attack.Last.
	lasts bool
	// sized means that the bodies have Attack.Bytes.
	sized bool
	// stream means that an answer is a stream: an early end cuts it.
	stream bool

	// A lane has exactly one of the following two.

	// http describes a client that speaks HTTP.
	http *httpClient
	// exchange performs one exchange over a TCP connection or a UDP socket of its own. It
	// returns when the exchange is over, or when c's deadline passes. The identity that it
	// returns is the last one received.
	exchange func(ctx context.Context, c net.Conn, a Attack) content
}

// httpClient describes how a lane makes HTTP requests, and their transport.
type httpClient struct {
	method string
	// ownPaths means that the protocol chooses the paths: only whole hosts can be targets.
	ownPaths bool
	// body returns a request's body; nil: requests have none.
	body func(*rand.Rand) []byte
	// grow makes the sent body from the one that body returns; nil: that one is sent.
	grow func(Attack, []byte) *uploadBody
	// header asks the pod for something other than an immediate answer; nil: nothing.
	header func(Attack) http.Header
	// read reads the body of a successful answer; nil: readAll.
	read func(response *http.Response, a Attack) content
	// transport returns the transport of an attack. It keeps at most Attack.MaxInFlight idle
	// connections.
	transport func(d *dialer, a Attack) transport
}

// transport sends the HTTP requests of one attack.
type transport interface {
	// perform sends a request and returns the answer, like http.RoundTripper. ctx, which replaces the
	// request's own context, has a deadline. perform reports to trace.
	perform(ctx context.Context, r *http.Request, trace *requestTrace) (*http.Response, error)
	CloseIdleConnections()
}

// content is the part of an answer that a lane reads.
type content struct {
	identity []byte // JSON
	messages int    // of a stream
	flaw     string // what is wrong with a complete answer
	failed   string // the failure that the answer reports, where its HTTP status does not
	err      error  // why the answer is not complete
}

func readAll(response *http.Response, _ Attack) content {
	if already, ok := response.Body.(*received); ok {
		return content{identity: already.text, err: already.err}
	}
	body, err := io.ReadAll(response.Body)
	return content{identity: body, err: err}
}

// anyCertificate is the configuration of clients that accept any certificate: classify checks it.
func anyCertificate() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// keepAlive is the transport of most lanes.
func keepAlive(d *dialer, a Attack) transport {
	return traced{&http.Transport{
		DialContext:         d.dialURL,
		TLSClientConfig:     anyCertificate(),
		MaxIdleConnsPerHost: a.MaxInFlight,
		IdleConnTimeout:     90 * time.Second, // as http.DefaultTransport
		DisableCompression:  true,             // the answer's bytes are those the pod sent
	}}
}

// Lanes returns the names of all lanes.
func Lanes() []string {
	names := make([]string, len(lanes))
	for i, l := range lanes {
		names[i] = l.name
	}
	return names
}

// StreamLanes returns the names of the lanes that connect to TCP and UDP services.
func StreamLanes() []string {
	return slices.DeleteFunc(Lanes(), func(name string) bool { return ListenerOf(name) < TCP })
}

// LastingLanes returns the names of the lanes whose requests take Attack.Last.
func LastingLanes() []string {
	return slices.DeleteFunc(Lanes(), func(name string) bool { l, _ := find(name); return !l.lasts })
}

// SizedLanes returns the names of the lanes whose bodies have Attack.Bytes.
func SizedLanes() []string {
	return slices.DeleteFunc(Lanes(), func(name string) bool { l, _ := find(name); return !l.sized })
}

// DocOf describes a request of a lane; empty if there is no such lane.
func DocOf(name string) string {
	l, _ := find(name)
	return l.doc
}

// ChoosesPaths reports whether the protocol of a lane chooses the paths of its requests.
func ChoosesPaths(name string) bool {
	l, _ := find(name)
	return l.http != nil && l.http.ownPaths
}

// ListenerOf returns the listener of a lane, HTTP if there is no such lane.
func ListenerOf(name string) Listener {
	l, _ := find(name)
	return l.listener
}

func find(name string) (lane, bool) {
	i := slices.IndexFunc(lanes, func(l lane) bool { return l.name == name })
	if i < 0 {
		return lane{}, false
	}
	return lanes[i], true
}

// Listener is the kind of nginx port that a lane's clients connect to.
type Listener int

// The listeners.
const (
	HTTP Listener = iota
	TLS           // HTTP over TLS
	TCP           // each service has its own port
	UDP           // each service has its own port
)

// String returns http, tls, tcp or udp.
func (d Listener) String() string {
	return [...]string{HTTP: "http", TLS: "tls", TCP: "tcp", UDP: "udp"}[d]
}

// network returns the name that package net has for the listener's transport protocol.
func (d Listener) network() string {
	if d == UDP {
		return "udp"
	}
	return "tcp"
}
