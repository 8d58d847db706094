// Command informer is a small ingress controller that supports only in-cluster configuration. It
// serves the ingresses and EndpointSlices of its informers.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	address := flag.String("http", "", "where to serve")
	publish := flag.String("publish", "", "the address in the status of ingresses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *address, *publish); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address, publish string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	config.QPS, config.UserAgent = -1, "informer/1"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	namespace, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return err
	}
	log.Printf("%s in %s at %s, KUBECONFIG %q", self.Status.UserInfo.Username, namespace, config.Host, os.Getenv("KUBECONFIG"))

	factory := informers.NewSharedInformerFactory(client, 0)
	s := &server{ingresses: factory.Networking().V1().Ingresses().Lister(), slices: factory.Discovery().V1().EndpointSlices().Lister()}
	write := func(object any) { go publishIn(ctx, client, object.(*networkingv1.Ingress), publish) }
	_, err = factory.Networking().V1().Ingresses().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: write, UpdateFunc: func(_, now any) { write(now) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return serve(ctx, address, s)
}

// publishIn writes the address into the status of an ingress that has none.
func publishIn(ctx context.Context, client kubernetes.Interface, ingress *networkingv1.Ingress, address string) {
	if len(ingress.Status.LoadBalancer.Ingress) > 0 {
		return
	}
	ingress = ingress.DeepCopy()
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: address}}
	if _, err := client.NetworkingV1().Ingresses(ingress.Namespace).UpdateStatus(ctx, ingress, metav1.UpdateOptions{}); err != nil {
		log.Print(err)
	}
}

func serve(ctx context.Context, address string, handler http.Handler) error {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		ended <- server.Shutdown(limited)
	})
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}

// server sends requests to the ready endpoints of the service that the host's first path names.
type server struct {
	ingresses networkinglisters.IngressLister
	slices    discoverylisters.EndpointSliceLister
	turn      atomic.Uint64
}

// transport keeps no connections, because pods that end close them.
var transport = &http.Transport{DisableKeepAlives: true}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	namespace, service := s.serviceOf(r.Host, r.URL.Path)
	if service == "" {
		http.NotFound(w, r)
		return
	}
	endpoints := s.endpoints(namespace, service)
	if len(endpoints) == 0 {
		http.Error(w, "no endpoints", http.StatusServiceUnavailable)
		return
	}
	to := &url.URL{Scheme: "http", Host: endpoints[s.turn.Add(1)%uint64(len(endpoints))]}
	proxy := httputil.ReverseProxy{Transport: transport, Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(to)
		p.Out.Host = p.In.Host
	}}
	proxy.ServeHTTP(w, r)
}

func (s *server) serviceOf(host, path string) (namespace, service string) {
	all, _ := s.ingresses.List(labels.Everything())
	longest := ""
	for _, ingress := range all {
		for _, rule := range ingress.Spec.Rules {
			if rule.Host != host || rule.HTTP == nil {
				continue
			}
			for _, p := range rule.HTTP.Paths {
				if strings.HasPrefix(path, p.Path) && len(p.Path) > len(longest) {
					longest, namespace, service = p.Path, ingress.Namespace, p.Backend.Service.Name
				}
			}
		}
	}
	return namespace, service
}

func (s *server) endpoints(namespace, service string) (all []string) {
	slices, _ := s.slices.EndpointSlices(namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service}))
	for _, slice := range slices {
		for _, endpoint := range slice.Endpoints {
			if len(slice.Ports) > 0 && (endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready) {
				all = append(all, net.JoinHostPort(endpoint.Addresses[0], strconv.Itoa(int(*slice.Ports[0].Port))))
			}
		}
	}
	return all
}
