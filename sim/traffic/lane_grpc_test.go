package traffic

import (
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// callee starts an HTTP/2 server in place of nginx.
func callee(t *testing.T, handler http.HandlerFunc) netip.AddrPort {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = true
	s.TLS = secured(t, pki.New("nobody").Issue("all", []string{"*.example"}))
	s.StartTLS()
	t.Cleanup(s.Close)
	return netip.MustParseAddrPort(s.Listener.Addr().String())
}

// asPod begins the answer of a pod, with one message.
func asPod(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set(backend.PodHeader, "demo/web-1")
	w.Header().Set(backend.ServiceHeader, "demo/web")
	w.Header().Set("Content-Type", "application/grpc")
	message, _ := proto.Marshal(wrapperspb.String(`{}`))
	w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
	http.NewResponseController(w).Flush()
}

func withStatus(status string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asPod(w, r)
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
	}
}

// Each cause of failed calls, on a real connection.
func TestCausesOfCalls(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) {
		asPod(w, r)
		panic(http.ErrAbortHandler) // RST_STREAM
	}
	closed := func(w http.ResponseWriter, r *http.Request) {
		asPod(w, r)
		r.Context().Value(http.ServerContextKey).(*http.Server).Close() // the connection ends under the stream
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		lane    string
		want    event.Cause
	}{
		"RST_STREAM before an answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "grpc", event.Reset},
		"RST_STREAM in an answer":     {cut, "grpc", event.Truncated},
		"RST_STREAM in a stream":      {cut, "grpc-stream", event.StreamCut},
		"FIN in an answer":            {closed, "grpc", event.Truncated},
		"FIN in a stream":             {closed, "grpc-stream", event.StreamCut},
		"a stream of too few":         {withStatus("0"), "grpc-stream", event.StreamCut},
		"no status":                   {asPod, "grpc", event.Truncated},
		"a status of the pod":         {withStatus("13"), "grpc", event.PodError},
		"a status of nobody": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Grpc-Status", "14")
		}, "grpc", event.NginxError},
		"502 by nginx":       {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(502) }, "grpc", event.NginxError},
		"not a message":      {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html></html>") }, "grpc", event.Corrupted},
		"another pod's body": {withStatus("0"), "grpc", event.Corrupted},
		"no answer":          {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "grpc", event.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, test.lane, callee(t, test.handler))
			if test.want == event.Timeout {
				c.recorder.attack.Timeout = 50 * time.Millisecond
			}
			if r := c.fire(); r.Cause != test.want || r.Detail == "" {
				t.Errorf("cause %q (%s), want %q", r.Cause, r.Detail, test.want)
			}
		})
	}
}

// Calls share a connection.
func TestCallsShareAConnection(t *testing.T) {
	c := newClient(t, "grpc", entrance(t, "grpc", pod(t, "127.207.0.0/24", "demo/web-1", "demo/web")))
	for i := range 3 {
		if r := c.fire(); r.Cause != "" || r.Reused != (i > 0) || r.Serial == "" || r.Messages != 1 {
			t.Errorf("got %+v", r)
		}
	}
	if opened := c.log.opened(t); opened != 1 {
		t.Errorf("got %d connections, want 1", opened)
	}
}
