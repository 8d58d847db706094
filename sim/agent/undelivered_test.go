package agent

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"windtunnel.dev/sim/event"
)

// If an observer did not get all changes, the effort of the round says so, even if the failure occurs only
// at the end of the round.
func TestUndeliveredChangesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/observe/watch" {
				<-release
				http.Error(w, "the API server is busy", http.StatusServiceUnavailable)
				return
			}
			answer(w, nothing{}, nil)
		})
		p := NewPeer(At{Pod: "controller", Client: &http.Client{Transport: transport{handler}}}, newRunLog().Log)
		o := &Observation{peer: p, log: p.log, subject: "subject"}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c, err := o.Converge(ctx)
		if err != nil {
			t.Fatal(err)
		}
		c.Watch(event.Change{ID: 1, Host: "a"})
		var effort event.Probe
		go func() { effort = c.Effort() }()
		synctest.Wait()
		close(release)
		synctest.Wait()
		if !strings.Contains(effort.Off, "the API server is busy") {
			t.Errorf("the effort is %+v", effort)
		}
		cancel()
		<-c.Done()
	})
}
