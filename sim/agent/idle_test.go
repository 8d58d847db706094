package agent

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// transport answers requests in this process, which a bubble of synctest requires.
type transport struct{ http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	t.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// A generator keeps running between the rounds of its subject, while other subjects have their turns.
func TestIdleGeneratorLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(token, Observed{})
		if err != nil {
			t.Fatal(err)
		}
		p := NewPeer(At{Pod: "traffic-0", Client: &http.Client{Transport: transport{s.Handler()}}, Token: token}, newRunLog().Log)
		generators := NewTraffic([]*Peer{p}, p.log, "subject")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		silent := make(chan time.Duration, 1)
		go func() {
			if s.AwaitSilence(ctx, Lease) == nil {
				silent <- time.Since(began)
			}
		}()
		time.Sleep(10 * Lease)
		select {
		case after := <-silent:
			t.Errorf("it ended after %v", after)
		default:
		}
		generators.Close()
		time.Sleep(2 * Lease)
		if len(silent) == 0 {
			t.Error("it did not end with its harness")
		}
	})
}
