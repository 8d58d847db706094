package adapterstest

import (
	"cmp"
	"context"
	"flag"
	"net/netip"
	"slices"
	"strings"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// debounce is how long a controller waits for further changes.
const debounce = 20 * time.Millisecond

// Route is a path of a host, and the endpoints of its service.
type Route struct {
	Host, Path string
	Endpoints  []netip.AddrPort
}

// find returns the route of a request: that with the longest path.
func find(routes []Route, host, path string) (Route, bool) {
	for _, r := range routes { // the longest paths first
		if r.Host == host && strings.HasPrefix(path, r.Path) {
			return r, true
		}
	}
	return Route{}, false
}

// rule is a path of a host, and its service.
type rule struct {
	namespace, host, path, service string
}

// frontend is a kind of object that routes requests to services.
type frontend interface {
	// informer returns the informer of the objects.
	informer() cache.SharedIndexInformer
	rules() ([]rule, error)
	// publish writes an address into the status of the objects that have none.
	publish(ctx context.Context, address string) error
}

// source is the API server from which a controller gets its routes.
type source struct {
	kubeconfig string
	address    string // for the status of the objects that it serves, "" for none
	gateway    bool   // it serves HTTPRoutes, not ingresses
}

// addFlags adds the flags of a source.
func (s *source) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "of the API server")
	flags.StringVar(&s.address, "publish", "", "the address in the status of ingresses or Gateways")
	flags.BoolVar(&s.gateway, "gateway", false, "serve HTTPRoutes instead of ingresses")
}

// follow calls apply with all routes, at first and after each change, until ctx ends.
func (s *source) follow(ctx context.Context, apply func([]Route) error) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.UserAgent = -1, "stub/1"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	note := func(any) {
		select {
		case changed <- struct{}{}:
		default: // one is waiting
		}
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	var front frontend = &ingresses{client, factory.Networking().V1().Ingresses()}
	if s.gateway {
		if front, err = newHTTPRoutes(config); err != nil {
			return err
		}
	}
	slices := factory.Discovery().V1().EndpointSlices()
	for _, informer := range []cache.SharedIndexInformer{front.informer(), slices.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: note, UpdateFunc: func(_, now any) { note(now) }, DeleteFunc: note,
		}); err != nil {
			return err
		}
	}
	if s.gateway { // the factory starts its own informers
		go front.informer().RunWithContext(ctx)
	}
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), front.informer().HasSynced, slices.Informer().HasSynced)
	note(nil)
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		time.Sleep(debounce)
		rules, err := front.rules()
		if err != nil {
			return err
		}
		endpoints, err := slices.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		if err := apply(routesOf(rules, endpoints)); err != nil {
			return err
		}
		if s.address != "" && front.publish(ctx, s.address) != nil { // a fault of the API server
			time.AfterFunc(time.Second, func() { note(nil) })
		}
	}
}

func routesOf(rules []rule, all []*discoveryv1.EndpointSlice) []Route {
	endpoints := map[string][]netip.AddrPort{} // by namespace/service
	for _, slice := range all {
		service := slice.Namespace + "/" + slice.Labels[discoveryv1.LabelServiceName]
		for _, endpoint := range slice.Endpoints {
			if len(slice.Ports) == 0 || endpoint.Conditions.Ready != nil && !*endpoint.Conditions.Ready {
				continue
			}
			if address, err := netip.ParseAddr(endpoint.Addresses[0]); err == nil {
				endpoints[service] = append(endpoints[service], netip.AddrPortFrom(address, uint16(*slice.Ports[0].Port)))
			}
		}
	}
	var routes []Route
	for _, r := range rules {
		list := slices.Clone(endpoints[r.namespace+"/"+r.service])
		slices.SortFunc(list, netip.AddrPort.Compare)
		routes = append(routes, Route{r.host, r.path, list})
	}
	slices.SortFunc(routes, func(a, b Route) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	return routes
}
