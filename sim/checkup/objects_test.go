package checkup

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"windtunnel.dev/sim/driver"
)

// at is an instance whose proxy listens at an address.
type at struct {
	driver.Instance
	address netip.AddrPort
}

func (a at) Address() netip.AddrPort { return a.address }
func (at) Died() <-chan struct{}     { return nil }

// A timeout's error has the last answer of a server, not the error of the request that the timeout cancels.
func TestLastAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			cancel(errors.New("too late"))
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	c := checkup{instance: at{address: netip.MustParseAddrPort(server.Listener.Addr().String())}, turn: 1}
	_, err := c.answers(ctx, "host.example")
	if want := "host.example: too late; the last answer: 200 OK from no pod"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
