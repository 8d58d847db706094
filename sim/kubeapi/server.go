// Package kubeapi is a simulated Kubernetes API server: kubectl and any client-go program work
// against it over HTTP or HTTPS, while its objects live in memory. It stands between the harness,
// which writes a cluster into it, and the controller under test, which watches. Its one rule: where
// the API makes a promise, a client cannot tell it from kube-apiserver.
//
// The package itself is the HTTP surface: routes, lists, watch streams, authentication and faults.
// The state of the cluster and everything below it is in the packages in internal.
//
// The server does no authorization: every authenticated client may do everything. The rules of
// custom kinds may use CEL without the functions that Kubernetes adds; webhooks may not use CEL.
// Package controllers does the work of controllers and kubelets. As with kube-apiserver, a pod's
// status is written only through its status subresource.
package kubeapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/kubeapi/internal/accounts"
	"windtunnel.dev/sim/kubeapi/internal/admission"
	"windtunnel.dev/sim/kubeapi/internal/certs"
	"windtunnel.dev/sim/kubeapi/internal/cluster"
)

// DefaultVersion is the Kubernetes version of a server whose Options set none. It is the version
// whose rules the server follows.
const DefaultVersion = "v1.36.0"

// Review is a finished call of a webhook.
type Review = admission.Review

// Options are the options of a server. At least one of HTTP and HTTPS must be set.
type Options struct {
	HTTP  string // listen address, host:port; port 0 chooses a free port; empty turns HTTP off
	HTTPS string // the same for HTTPS, with a certificate of a CA that Start creates
	Dir   string // directory for the kubeconfig and the CA's certificate; it turns HTTPS on, by default on a free loopback port; empty writes no files
	// KubeconfigLater leaves the kubeconfig to Server.WriteKubeconfig, because programs that wait
	// for the file start as soon as it exists, and expect a complete cluster.
	KubeconfigLater bool
	Version         string // Kubernetes version that the server reports, a semantic version with v; empty means DefaultVersion
	// ResolveService returns the host:port behind a Service that a webhook configuration
	// names, because there is no cluster network. Without it such webhooks fail.
	ResolveService func(namespace, name string, port int32) (string, error)

	// AllowLoopbackEndpoints accepts EndpointSlices with addresses in 127.0.0.0/8, which
	// kube-apiserver refuses: simulated pods listen there.
	AllowLoopbackEndpoints bool
	// CreationTimes keeps the creationTimestamp of new objects if it is in the past, so that the
	// objects of a dump keep their relative ages. kube-apiserver replaces it.
	CreationTimes bool

	// The controllers that work on the cluster, for example those of package controllers. The server
	// does the work of a missing one itself, and at once.
	Kubelet             bool // a kubelet ends deleted pods; otherwise they are removed at once
	NamespaceController bool // a controller empties deleted namespaces; otherwise the server does
	ServiceAccounts     bool // a controller creates the service account default of each namespace; otherwise pods do not need an existing service account

	Publish bool // the server creates the Service kubernetes for itself, as kube-apiserver does; needs HTTPS

	// A request must carry the token or a client certificate of this server; otherwise it gets
	// a 401. Clients do not send the token of a kubeconfig over plain HTTP.
	Token     string // the bearer token, at least 16 characters; empty generates one, which requires loopback addresses
	Anonymous bool   // every request is allowed; requires loopback addresses

	Log *slog.Logger // gets a record of each panic; nil is slog.Default()

	// OnReview is called at the end of each call of a webhook, concurrently for several calls; nil:
	// it is not called.
	OnReview func(Review)

	OnFault func(fault.Hit) // called for every hit of a fault, one after the other; it must not call the server
	Broken  bool            // also accepts the faults of fault/broken.go
}

// Server is a running API server.
type Server struct {
	opts    Options
	version string
	state   *cluster.State
	openAPI *openAPI

	http, https *endpoint
	names       map[string]bool  // the server's names in Host headers, in addition to loopback
	token       string           // of the administrator
	tokens      *accounts.Issuer // of service accounts
	log         *slog.Logger
	bodyWithin  time.Duration
	identity    *certs.Identity // nil without HTTPS
	kubeconfig  string
	connections connections
	reclaimer   reclaimer
	faults      *faults
	metrics     *metrics
	streams     streams

	stopping atomic.Value // chan struct{}, closed to end all watches
	outages  sync.Mutex   // held while the server stops or starts
	closed   bool         // for good
}

// Start creates an empty cluster with the namespaces that every cluster has, and serves it until
// Close.
func Start(opts Options) (*Server, error) {
	s, err := newServer(opts)
	if err != nil {
		return nil, err
	}
	if err := s.listen(opts); err != nil {
		s.abandon()
		return nil, err
	}
	if opts.Publish {
		if err := s.publish(); err != nil {
			s.abandon()
			return nil, err
		}
	}
	if err := s.prepareKubeconfig(); err != nil {
		s.abandon()
		return nil, err
	}
	for _, e := range s.endpoints() {
		e.serve(s.newHTTPServer())
	}
	return s, nil
}

// publish creates the Service kubernetes, whose endpoint is the server's HTTPS address.
func (s *Server) publish() error {
	if s.https == nil {
		return errors.New("kubeapi: Publish needs HTTPS, which is off; set HTTPS or Dir")
	}
	_, port, err := net.SplitHostPort(s.https.address)
	if err != nil {
		return err
	}
	addresses := addressesOf(s.https.listener)
	ip := net.IPv4(127, 0, 0, 1)
	if i := slices.IndexFunc(addresses, func(ip net.IP) bool { return !ip.IsLoopback() }); i >= 0 {
		ip = addresses[i]
	}
	server, err := netip.ParseAddrPort(net.JoinHostPort(ip.String(), port))
	if err != nil {
		return err
	}
	return s.state.Publish(server)
}

// newServer returns a server that does not listen yet.
func newServer(opts Options) (*Server, error) {
	version, err := checkVersion(opts.Version)
	if err != nil {
		return nil, err
	}
	if opts.Token != "" && len(opts.Token) < minToken {
		return nil, fmt.Errorf("kubeapi: a token of %d characters is too easy to guess; use at least %d", len(opts.Token), minToken)
	}
	state, err := cluster.New(cluster.Options{
		ResolveService: opts.ResolveService, Reviewed: opts.OnReview, Loopback: opts.AllowLoopbackEndpoints, Kubelet: opts.Kubelet, NamespaceController: opts.NamespaceController, ServiceAccounts: opts.ServiceAccounts, CreationTimes: opts.CreationTimes})
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, version: version, state: state, openAPI: &openAPI{version: version, state: state}, faults: newFaults(opts.OnFault),
		names: map[string]bool{}, token: cmp.Or(opts.Token, rand.Text()), log: cmp.Or(opts.Log, slog.Default()), bodyWithin: bodyWithin}
	s.metrics = newMetrics(version, state)
	s.tokens = accounts.NewIssuer(func(resource, namespace, name string) runtime.Object {
		return state.Object("", resource, namespace, name)
	})
	s.stopping.Store(make(chan struct{}))
	return s, nil
}

func (s *Server) listen(opts Options) error {
	if opts.HTTP == "" && opts.HTTPS == "" {
		return errors.New("kubeapi: neither an HTTP nor an HTTPS address to listen on; set one, for example 127.0.0.1:0")
	}
	if opts.HTTP != "" {
		l, err := listenOn(opts.HTTP, false)
		if err != nil {
			return err
		}
		s.http = &endpoint{url: "http://" + reachable(l), address: l.Addr().String(), listener: l}
		s.nameAfter(l)
	}
	if opts.HTTPS == "" && opts.Dir != "" && !opts.Anonymous {
		opts.HTTPS = "127.0.0.1:0" // the kubeconfig needs HTTPS
	}
	if opts.HTTPS == "" {
		return nil
	}
	l, err := listenOn(opts.HTTPS, !opts.Anonymous && opts.Token != "")
	if err != nil {
		return err
	}
	s.https = &endpoint{url: "https://" + reachable(l), address: l.Addr().String(), listener: l}
	s.nameAfter(l)
	if s.identity, err = certs.New(addressesOf(l)...); err != nil {
		return err
	}
	s.https.tls = s.identity.Config()
	return nil
}

func (s *Server) newHTTPServer() *http.Server {
	return &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       3 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       s.connections.add,
		ConnState:         s.connections.trackState,
		ErrorLog:          log.New(netLog{s.log}, "", 0),
	}
}

func (s *Server) endpoints() []*endpoint {
	var all []*endpoint
	for _, e := range []*endpoint{s.http, s.https} {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// abandon stops listening.
func (s *Server) abandon() {
	for _, e := range s.endpoints() {
		e.close()
	}
}

// Close stops listening, ends all watches cleanly and waits for the requests in flight. If ctx is
// done first, Close aborts them and returns ctx's error.
func (s *Server) Close(ctx context.Context) error {
	s.outages.Lock()
	defer s.outages.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// The sockets close before the watches end: a client that comes back at once must be refused.
	s.abandon()
	if ending := s.ending(); !closed(ending) {
		close(ending)
	}
	s.connections.end()
	var errs []error
	for _, e := range s.endpoints() {
		errs = append(errs, e.shutdown(ctx))
	}
	return errors.Join(errs...)
}

// Writer changes objects from within the process; see package cluster.
type Writer = cluster.Writer

// Change is one change that a Writer makes.
type Change = cluster.Change

// Writer returns a writer to s. It is safe for concurrent use, also after Close.
func (s *Server) Writer() Writer { return s.state.Writer() }

// URL returns the base URL over HTTP, or an empty string if HTTP is off.
func (s *Server) URL() string {
	if s.http == nil {
		return ""
	}
	return s.http.url
}

// TLSURL returns the base URL over HTTPS, or an empty string if HTTPS is off.
func (s *Server) TLSURL() string {
	if s.https == nil {
		return ""
	}
	return s.https.url
}

// Kubeconfig returns the path of a kubeconfig file for this server, which only its owner may read.
// It is empty if Options.Dir is. The file uses HTTPS if that is on, because clients do not send the
// token over plain HTTP.
func (s *Server) Kubeconfig() string { return s.kubeconfig }

// Config returns a client configuration for this server with its token, over HTTP if that is on. It
// does not limit the client's rate.
func (s *Server) Config() *rest.Config {
	if s.http != nil {
		return &rest.Config{Host: s.URL(), QPS: -1, BearerToken: s.token}
	}
	return s.TLSConfig()
}

// TLSConfig returns a client configuration for this server over HTTPS, or nil if HTTPS is off.
func (s *Server) TLSConfig() *rest.Config {
	if s.https == nil {
		return nil
	}
	return &rest.Config{Host: s.TLSURL(), QPS: -1, BearerToken: s.token, TLSClientConfig: rest.TLSClientConfig{CAData: s.identity.CA()}}
}

// CertificateConfig is like TLSConfig, with a new client certificate for this user and these groups
// instead of the token.
func (s *Server) CertificateConfig(user string, groups ...string) (*rest.Config, error) {
	config := s.TLSConfig()
	if config == nil {
		return nil, errors.New("kubeapi: client certificates need HTTPS, which is off")
	}
	cert, err := s.identity.Clients.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	config.BearerToken = ""
	config.CertData, config.KeyData, err = certs.PEM(cert)
	return config, err
}

// Holds returns the number of objects of each resource that has any. The keys are names as kubectl
// writes them: services, ingresses.networking.k8s.io.
func (s *Server) Holds() map[string]int { return s.state.Holds() }
