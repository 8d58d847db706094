package run

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/backend"
)

// steadyPasses is how many times in a row every host must be served over
// connections of their own before a subject counts as ready. nginx's workers
// learn of their backends one by one, and a fresh connection goes to any of
// them: a worker that knows nothing yet would have to miss them all.
const steadyPasses = 2

// client asks the subject over a new connection each time.
func (s *side) client() *http.Client {
	address := s.instance.Address().String()
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", address)
			},
		},
	}
}

// lookOnce asks for every URL of the population, and counts those that no pod answers.
func (s *side) lookOnce(ctx context.Context) (asked, unserved int) {
	client := s.client()
	var without atomic.Int64
	var group errgroup.Group
	group.SetLimit(4)
	for _, target := range s.population.Targets() {
		group.Go(func() error {
			if look(ctx, client, "http://"+target.Host+target.Path) != nil {
				without.Add(1)
			}
			return nil
		})
	}
	group.Wait()
	return len(s.population.Targets()), int(without.Load())
}

// awaitServed returns when every host and path of the population is answered
// by a pod.
func (s *side) awaitServed(ctx context.Context) error {
	client := s.client()
	for range steadyPasses {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(4)
		for _, target := range s.population.Targets() {
			group.Go(func() error { return s.awaitTarget(ctx, client, "http://"+target.Host+target.Path) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) awaitTarget(ctx context.Context, client *http.Client, url string) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		last := look(ctx, client, url)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("subject %s does not serve %s (%w); the last answer: %w", s.name, url, context.Cause(ctx), last)
		case <-s.instance.Died():
			return s.instance.Err()
		case <-ticker.C:
		}
	}
}

// look is nil when a pod answered.
func look(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get(backend.PodHeader) == "" {
		return fmt.Errorf("%s without the name of a pod", response.Status)
	}
	return nil
}
