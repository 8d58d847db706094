package kubeapi

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/kubeapi/internal/store"
)

// requests counts what a client sends.
type requests struct {
	mu   sync.Mutex
	urls []string
}

func (r *requests) spy(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			r.mu.Lock()
			r.urls = append(r.urls, req.URL.String())
			r.mu.Unlock()
			return next.RoundTrip(req)
		})
	})
	return config
}

func (r *requests) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.urls
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// seen returns a handler and a channel with the events that the handler gets, in order.
func seen() (cache.ResourceEventHandler, <-chan string) {
	events := make(chan string, 1000)
	name := func(obj any) string {
		m := obj.(metav1.Object)
		return fmt.Sprintf("%s %v", m.GetName(), m.GetLabels()["v"])
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { events <- "add " + name(obj) },
		UpdateFunc: func(_, obj any) { events <- "update " + name(obj) },
		DeleteFunc: func(obj any) { events <- "delete " + name(obj) },
	}, events
}

func expect(t *testing.T, events <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-events:
			if got != w {
				t.Fatalf("saw %q, want %q", got, w)
			}
		case <-t.Context().Done():
			t.Fatalf("waiting for %q: %v", w, t.Context().Err())
		}
	}
}

func configMapsOf(s *Server) *store.Collection {
	return s.state.BuiltIn(configMaps.GroupVersion(), configMaps.Resource)
}

func configMap(name, v string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"v": v}}}
}

// follow creates, changes and deletes config maps while the informer watches.
func follow(t *testing.T, s *Server, informer cache.SharedIndexInformer) {
	t.Helper()
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	if _, err := cms.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	handler, events := seen()
	if _, err := informer.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the informer never synced")
	}
	expect(t, events, "add a 1")
	if _, err := cms.Create(t.Context(), configMap("b", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := cms.Update(t.Context(), configMap("a", "2"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := cms.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(t, events, "add b 1", "update a 2", "delete b 1")
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Every kind of informer syncs by one streaming list and then follows that stream.
func TestInformersFollow(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "https"} {
		for kind, make := range map[string]func(*testing.T, *rest.Config) cache.SharedIndexInformer{
			"typed": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
				return informers.NewSharedInformerFactory(client(t, config), 0).Core().V1().ConfigMaps().Informer()
			},
			"dynamic": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
				c, err := dynamic.NewForConfig(config)
				if err != nil {
					t.Fatal(err)
				}
				return dynamicinformer.NewDynamicSharedInformerFactory(c, 0).ForResource(configMaps).Informer()
			},
			"metadata": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
				c, err := metadata.NewForConfig(config)
				if err != nil {
					t.Fatal(err)
				}
				return metadatainformer.NewSharedInformerFactory(c, 0).ForResource(configMaps).Informer()
			},
		} {
			t.Run(transport+" "+kind, func(t *testing.T) {
				t.Parallel()
				s := start(t)
				config := s.Config()
				if transport == "https" {
					config = s.TLSConfig()
				}
				var sent requests
				follow(t, s, make(t, sent.spy(config)))
				if urls := sent.all(); len(urls) != 1 {
					t.Errorf("%d requests, want the one watch: %v", len(urls), urls)
				}
			})
		}
	}
}

// A shared factory syncs all the kinds that an ingress controller watches.
func TestSharedFactorySyncs(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	if _, err := c.NetworkingV1().Ingresses("default").Create(t.Context(), ingress("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice("web-1", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(c, 0)
	factory.Core().V1().Services().Informer()
	factory.Core().V1().Secrets().Informer()
	factory.Networking().V1().IngressClasses().Informer()
	ingresses, slices := factory.Networking().V1().Ingresses().Lister(), factory.Discovery().V1().EndpointSlices().Lister()
	factory.Start(t.Context().Done())
	for kind, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Errorf("%v did not sync", kind)
		}
	}
	if _, err := ingresses.Ingresses("default").Get("web"); err != nil {
		t.Error(err)
	}
	got, err := slices.EndpointSlices("default").Get("web-1")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Endpoints) != 3 {
		t.Errorf("%d endpoints, want 3", len(got.Endpoints))
	}
}

func ingressAddress(ip string) networkingv1.IngressLoadBalancerIngress {
	return networkingv1.IngressLoadBalancerIngress{IP: ip}
}

func ingress(name string) *networkingv1.Ingress {
	prefix := networkingv1.PathTypePrefix
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new("nginx"),
			Rules: []networkingv1.IngressRule{{
				Host: name + ".example",
				IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
					Path: "/", PathType: &prefix,
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
						Name: name, Port: networkingv1.ServiceBackendPort{Number: 80}}},
				}}}},
			}},
		},
	}
}

func slice(name string, endpoints int) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Port: new(int32(8080))}},
	}
	for i := range endpoints {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{fmt.Sprintf("127.1.%d.%d", i/250, i%250+1)},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: fmt.Sprintf("web-%d", i)},
		})
	}
	return s
}

// A watcher that resumes too late gets an error in the stream, which then ends.
func TestExpiredWatch(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	configMapsOf(s).LimitHistory(2)
	for _, v := range []string{"1", "2", "3", "4"} {
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("cm-"+v, v), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "3"})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := <-w.ResultChan()
	status, isStatus := e.Object.(*metav1.Status)
	if !ok || e.Type != "ERROR" || !isStatus || status.Code != 410 || status.Reason != metav1.StatusReasonExpired {
		t.Fatalf("event %+v", e)
	}
	if _, ok := <-w.ResultChan(); ok {
		t.Error("the stream continues after the error")
	}
}

func TestDynamicClientRoundTrip(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, err := dynamic.NewForConfig(s.TLSConfig())
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "d"}, "data": map[string]any{"k": "v"}}}
	if _, err := c.Resource(configMaps).Namespace("default").Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := c.Resource(configMaps).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].GetKind() != "ConfigMap" {
		t.Errorf("list %v", list.Items)
	}
	if data, _, _ := unstructured.NestedString(list.Items[0].Object, "data", "k"); data != "v" {
		t.Errorf("data %q", data)
	}
}
