package controller_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// fresh requests web.example from nginx over a new connection, which any worker may accept.
func (r *running) fresh() string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", r.ports.HTTP), nil)
	r.must(err)
	request.Host = "web.example"
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

// As soon as the controller reports that it is healthy, every worker serves all objects that
// existed at the start.
func TestReadyMeansServed(t *testing.T) {
	t.Parallel()
	for name, dynamic := range map[string]bool{"dynamic": true, "reload mode": false} {
		t.Run(name, func(t *testing.T) {
			r := launch(t, dynamic, func(r *running) { r.service(pod(t, "127.88.0.1", "one")) })
			var said string
			for end := time.Now().Add(limit); said != "ok"; time.Sleep(time.Millisecond) {
				if said = r.get(r.ports.Health, "", "/healthz"); time.Now().After(end) {
					t.Fatalf("/healthz answers %q", said)
				}
			}
			for range 100 {
				if got := r.fresh(); got != "200 one" {
					t.Fatalf("healthy, but a worker answers %q", got)
				}
			}
			if got := r.get(r.ports.Health, "", "/readyz"); got != "ok" {
				t.Errorf("/readyz answers %q", got)
			}
		})
	}
}
