package container

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/testcontainers/testcontainers-go"

	"windtunnel.dev/sim/adapter"
)

// made is a container that an engine has made.
type made struct{ testcontainers.Container }

func (made) GetContainerID() string      { return "x" }
func (made) Start(context.Context) error { return nil }

// Probes look for nginx's master while a controller starts again. The race detector checks this test.
func TestMasterIsLookedForDuringAStart(t *testing.T) {
	api := engineThat(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/json") {
			io.WriteString(w, `{"Id":"x","State":{"Running":false,"Pid":0},"Config":{"Tty":false}}`)
		}
	})
	c := &controller{container: made{}, api: api, logged: make(chan struct{})}
	r := &runtime{setup: &adapter.Setup{}}
	r.current.Store(c)
	looking, started := make(chan struct{}), make(chan struct{})
	var probes sync.WaitGroup
	probes.Go(func() {
		for first := true; ; first = false {
			if _, err := r.Master(); err == nil {
				t.Error("a master was found")
			}
			if first {
				close(looking)
			}
			select {
			case <-started:
				return
			default:
			}
		}
	})
	<-looking
	err := c.begin(t.Context(), io.Discard)
	close(started)
	probes.Wait()
	if err != nil {
		t.Fatal(err)
	}
	<-c.logged
}
