package adapterstest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// EnvoyStub is the program name, usually that of a link, under which a test binary acts as the stub
// of Envoy.
const EnvoyStub = "envoy-stub"

// bootstrap is the part of Envoy's bootstrap configuration that the stub reads.
type bootstrap struct {
	Node  struct{ ID, Cluster string }
	Admin struct {
		Address address
	}
	StaticResources struct {
		Clusters []struct {
			LoadAssignment struct {
				Endpoints []struct {
					LBEndpoints []struct {
						Endpoint struct{ Address address }
					} `json:"lb_endpoints"`
				}
			} `json:"load_assignment"`
		}
	} `json:"static_resources"`
}

type address struct {
	SocketAddress struct {
		Address   string
		PortValue int `json:"port_value"`
	} `json:"socket_address"`
}

func (a address) String() string {
	return fmt.Sprintf("%s:%d", a.SocketAddress.Address, a.SocketAddress.PortValue)
}

// server returns the address of the control plane.
func (b bootstrap) server() (string, error) {
	for _, cluster := range b.StaticResources.Clusters {
		for _, locality := range cluster.LoadAssignment.Endpoints {
			for _, endpoint := range locality.LBEndpoints {
				return endpoint.Endpoint.Address.String(), nil
			}
		}
	}
	return "", errors.New("the bootstrap names no control plane")
}

// retryEvery is how long the stub waits before it calls a control plane again.
const retryEvery = 200 * time.Millisecond

// runEnvoy is a stub of Envoy. Like Envoy, it is one process that is never replaced, and takes
// listeners, routes, clusters and endpoints from a real control plane over xDS. It proxies plain
// HTTP by host and path prefix, and logs which other resources it receives and ignores. Its speed
// and memory say nothing about Envoy's.
func runEnvoy(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(EnvoyStub, flag.ContinueOnError)
	path, _ := flags.String("c", "", "the bootstrap"), flags.String("log-level", "", "ignored")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	var b bootstrap
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	server, err := b.server()
	if err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	e := &envoy{context: ctx, proxies: map[string]*listening{}, ignored: map[string]bool{}}
	e.say("a stub of Envoy, for tests only")
	if err := e.serveAdmin(ctx, b.Admin.Address.String()); err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := follow(ctx, server, b.Node.ID, b.Node.Cluster, e.apply)
		if ctx.Err() == nil {
			e.say("the control plane: %v", err)
			time.Sleep(retryEvery)
		}
	}
	return nil
}

// envoy is a running stub of Envoy.
type envoy struct {
	context context.Context
	ready   atomic.Bool
	proxies map[string]*listening // by address
	ignored map[string]bool       // messages that were logged
}

// listening is a proxy on an address.
type listening struct {
	*proxy
	end context.CancelFunc
}

func (e *envoy) say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, EnvoyStub+": "+format+"\n", values...)
}

// serveAdmin serves /ready, which answers 200 once there is a configuration.
func (e *envoy) serveAdmin(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if !e.ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { server.Close() })
	go func() { _ = server.Serve(listener) }()
	return nil
}

// apply applies a configuration: the routes by the address of their listener. It logs the ignored parts.
func (e *envoy) apply(routes map[string][]Route, ignored []string) error {
	for _, what := range ignored {
		if !e.ignored[what] {
			e.ignored[what] = true
			e.say("ignores %s", what)
		}
	}
	for address, l := range e.proxies {
		if _, still := routes[address]; !still {
			l.end()
			delete(e.proxies, address)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(routes)) {
		if e.proxies[address] == nil {
			if err := e.listen(address); err != nil {
				return err
			}
		}
		e.proxies[address].set(routes[address])
	}
	e.ready.Store(true)
	return nil
}

func (e *envoy) listen(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(e.context)
	l := &listening{newProxy(), end}
	e.proxies[address] = l
	go func() {
		if err := l.serve(ctx, listener); err != nil {
			e.say("%s: %v", address, err)
		}
	}()
	return nil
}
