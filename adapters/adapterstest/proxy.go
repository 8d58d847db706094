package adapterstest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

// drainTime is how long a proxy waits for requests in progress when it ends.
const drainTime = 5 * time.Second

// proxy answers requests by its routes.
type proxy struct {
	routes  atomic.Pointer[[]Route]
	turn    atomic.Uint64
	forward httputil.ReverseProxy
	version string // a path that is answered with 200, "" for none
}

func newProxy() *proxy {
	p := &proxy{}
	p.forward = httputil.ReverseProxy{
		// The URL of the request already has the address of the endpoint; everything else stays as
		// it is.
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		// Pods that end close their connections.
		Transport:    &http.Transport{DisableKeepAlives: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.set(nil)
	return p
}

func (p *proxy) set(routes []Route) { p.routes.Store(&routes) }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, found := find(*p.routes.Load(), r.Host, r.URL.Path)
	switch {
	case r.URL.Path == p.version:
		return
	case !found:
		w.WriteHeader(http.StatusNotFound)
		return
	case len(route.Endpoints) == 0:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	endpoint := route.Endpoints[p.turn.Add(1)%uint64(len(route.Endpoints))]
	to := r.Clone(r.Context())
	to.URL = &url.URL{Scheme: "http", Host: endpoint.String(), Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	p.forward.ServeHTTP(w, to)
}

// serve answers requests until ctx ends, and then completes those in progress.
func (p *proxy) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	drained := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		drained <- server.Shutdown(limited)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-drained
}

// runSingle is a controller that answers the requests itself.
func runSingle(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(single, flag.ContinueOnError)
	address := flags.String("http", "", "where to listen")
	var from source
	from.addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	p := newProxy()
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		cancel(from.follow(ctx, func(routes []Route) error {
			p.set(routes)
			fmt.Fprintln(os.Stderr, "stub: routes loaded")
			return nil
		}))
	}()
	return p.serve(ctx, listener)
}
