package rig

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Target is the destination of the requests to a kind of location.
type Target struct {
	Kind   string
	Host   string
	Path   string
	TLS    bool
	Status int // that both sides must answer
}

// URL returns the URL of requests, whatever address they are sent to.
func (t Target) URL() string {
	scheme := "http"
	if t.TLS {
		scheme = "https"
	}
	return scheme + "://" + t.Host + t.Path
}

// client returns a client with one kept-alive connection to nginx.
func (r *Rig) client(t Target) *http.Client {
	address := r.HTTP
	if t.TLS {
		address = r.TLS
	}
	transport := &http.Transport{
		MaxConnsPerHost: 1,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: t.Host}, //nolint:gosec // the cost is measured, not the trust
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay, Timeout: 20 * time.Second}
}

// Ask returns the status that nginx answers to a target.
func (r *Rig) Ask(ctx context.Context, t Target) (int, error) {
	client := r.client(t)
	defer client.CloseIdleConnections()
	return ask(ctx, client, t.URL())
}

func ask(ctx context.Context, client *http.Client, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// cost returns the CPU seconds of the workers for each request. All of them must be answered as at
// first.
func (r *Rig) cost(ctx context.Context, t Target, workers []int) (float64, error) {
	client := r.client(t)
	defer client.CloseIdleConnections()
	var before time.Duration
	for i := range r.Requests + 1 { // the first one opens the connections
		status, err := ask(ctx, client, t.URL())
		if err != nil {
			return 0, err
		}
		if status != t.Status {
			return 0, fmt.Errorf("%s answers %d instead of %d", t.URL(), status, t.Status)
		}
		if i == 0 {
			if before, err = cpuOf(workers); err != nil {
				return 0, err
			}
		}
	}
	after, err := cpuOf(workers)
	return (after - before).Seconds() / float64(r.Requests), err
}
