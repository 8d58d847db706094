package run

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/backend"
)

// steadyPasses is the number of consecutive passes in which every host must be served, over a new
// connection each, before a subject counts as ready. nginx's workers get their backends one by one,
// and a new connection may reach any of them. So a worker without backends stays unnoticed only if
// it gets none of these connections.
const steadyPasses = 2

// client returns a client that opens a new connection for each request, and accepts any certificate.
func (r *rig) client() *http.Client {
	address := r.instance.Address().String()
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", address)
			},
			DialTLSContext: func(ctx context.Context, _, host string) (net.Conn, error) {
				name, _, err := net.SplitHostPort(host)
				if err != nil {
					return nil, err
				}
				dialer := tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true}}
				return dialer.DialContext(ctx, "tcp", r.instance.TLS().String())
			},
		},
	}
}

// countUnserved requests every URL of the population, and counts those that no pod answers.
func (r *rig) countUnserved(ctx context.Context) (asked, unserved int) {
	client := r.client()
	var without atomic.Int64
	var group errgroup.Group
	group.SetLimit(4)
	for _, target := range r.population.Targets() {
		group.Go(func() error {
			if request(ctx, client, target.URL()) != nil {
				without.Add(1)
			}
			return nil
		})
	}
	group.Wait()
	return len(r.population.Targets()), int(without.Load())
}

// awaitServed returns when a pod answers at every host and path of the population, in the given number
// of consecutive passes.
func (r *rig) awaitServed(ctx context.Context, passes int) error {
	client := r.client()
	for range passes {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(4)
		for _, target := range r.population.Targets() {
			group.Go(func() error { return r.awaitTarget(ctx, client, target.URL()) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) awaitTarget(ctx context.Context, client *http.Client, url string) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		last := request(ctx, client, url)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("subject %s does not serve %s (%w); the last answer: %w", r.name, url, context.Cause(ctx), last)
		case <-r.instance.Died():
			return r.instance.Err()
		case <-ticker.C:
		}
	}
}

// request requests a URL. It returns nil if a pod answered.
func request(ctx context.Context, client *http.Client, url string) error {
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
