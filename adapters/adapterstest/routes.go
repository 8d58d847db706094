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
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// source is where a controller gets its routes from.
type source struct {
	kubeconfig string
	publish    string // the address that it writes into the status of ingresses, "" for none
}

// addFlags adds the flags of a source.
func (s *source) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "of the API server")
	flags.StringVar(&s.publish, "publish", "", "the address in the status of ingresses")
}

// follow calls apply with the routes of all ingresses, at first and after each change, until ctx ends.
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
	ingresses, slices := factory.Networking().V1().Ingresses(), factory.Discovery().V1().EndpointSlices()
	for _, informer := range []cache.SharedIndexInformer{ingresses.Informer(), slices.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: note, UpdateFunc: func(_, now any) { note(now) }, DeleteFunc: note,
		}); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	note(nil)
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		time.Sleep(debounce)
		all, err := ingresses.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		endpoints, err := slices.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		if err := apply(routesOf(all, endpoints)); err != nil {
			return err
		}
		if s.writeStatus(ctx, client, all) != nil { // a fault of the API server
			time.AfterFunc(time.Second, func() { note(nil) })
		}
	}
}

// writeStatus writes the address into the status of the ingresses that have none.
func (s *source) writeStatus(ctx context.Context, client kubernetes.Interface, all []*networkingv1.Ingress) error {
	if s.publish == "" {
		return nil
	}
	for _, ingress := range all {
		if len(ingress.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		ingress = ingress.DeepCopy()
		ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: s.publish}}
		if _, err := client.NetworkingV1().Ingresses(ingress.Namespace).UpdateStatus(ctx, ingress, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func routesOf(ingresses []*networkingv1.Ingress, all []*discoveryv1.EndpointSlice) []Route {
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
	for _, ingress := range ingresses {
		for _, rule := range ingress.Spec.Rules {
			if rule.HTTP == nil {
				continue
			}
			for _, path := range rule.HTTP.Paths {
				service := ingress.Namespace + "/" + path.Backend.Service.Name
				list := slices.Clone(endpoints[service])
				slices.SortFunc(list, netip.AddrPort.Compare)
				routes = append(routes, Route{rule.Host, path.Path, list})
			}
		}
	}
	slices.SortFunc(routes, func(a, b Route) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	return routes
}
