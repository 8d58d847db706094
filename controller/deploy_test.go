package controller_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// echo returns a handler that answers with the URI and the headers of the request, and the pod's
// name in X-Pod. /status/CODE answers with that code.
func echo(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Pod", name)
		if text, asked := strings.CutPrefix(r.URL.Path, "/status/"); asked {
			var code int
			fmt.Sscan(text, &code)
			w.WriteHeader(code)
		}
		fmt.Fprintf(w, "%s %s\n", name, r.RequestURI)
		r.Header.Write(w)
	}
}

// serve starts a pod on its own address.
func serve(t *testing.T, address string, handler http.Handler) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	config := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	config.Protocols.SetHTTP1(true)
	config.Protocols.SetUnencryptedHTTP2(true)
	server := &httptest.Server{Listener: listener, Config: config}
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().(*net.TCPAddr)
}

// deploy creates a service with pods. Each has its own EndpointSlice, because their ports differ.
func (r *running) deploy(name string, pods ...*net.TCPAddr) {
	r.Helper()
	r.create(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	})
	for i, pod := range pods {
		part := slice(pod)
		part.Name = fmt.Sprintf("%s-%d", name, i)
		part.Labels[discoveryv1.LabelServiceName] = name
		_, err := r.client.DiscoveryV1().EndpointSlices("default").Create(r.Context(), part, metav1.CreateOptions{})
		r.must(err)
	}
}

func (r *running) create(service *corev1.Service) {
	r.Helper()
	_, err := r.client.CoreV1().Services("default").Create(r.Context(), service, metav1.CreateOptions{})
	r.must(err)
}

// route creates an ingress that routes a path of a host to the first port of a service. annotations
// are pairs, without the prefix.
func (r *running) route(name, host, path, service string, annotations ...string) {
	r.Helper()
	r.routePort(name, host, path, service, 80, annotations...)
}

func (r *running) routePort(name, host, path, service string, port int32, annotations ...string) {
	r.Helper()
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		ingress.Annotations["nginx.ingress.kubernetes.io/"+annotations[i]] = annotations[i+1]
	}
	ingress.Spec = networkingv1.IngressSpec{
		IngressClassName: new("nginx"),
		Rules: []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{
				Path: path, PathType: new(networkingv1.PathTypeImplementationSpecific),
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: port}}},
			}},
		}}}},
	}
	_, err := r.client.NetworkingV1().Ingresses("default").Create(r.Context(), ingress, metav1.CreateOptions{})
	r.must(err)
}

// reply is a response whose body was read.
type reply struct {
	*http.Response
	body string
}

func (a reply) pod() string { return a.Header.Get("X-Pod") }

// ask requests a URI of a host from nginx, with headers as pairs. It does not follow redirects.
func (r *running) ask(host, uri string, headers ...string) reply {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", r.ports.HTTP, uri), nil)
	r.must(err)
	request.Host = host
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	r.must(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	r.must(err)
	return reply{response, string(body)}
}

// on returns the same controller with the T of a subtest.
func (r *running) on(t *testing.T) *running {
	copied := *r
	copied.T = t
	return &copied
}

// awaitWanted repeats a request until ok returns true for the reply.
func (r *running) awaitWanted(host, uri string, ok func(reply) bool) reply {
	r.Helper()
	var last reply
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if last = r.ask(host, uri); ok(last) {
			return last
		}
	}
	r.Fatalf("%s%s: %s %s", host, uri, last.Status, last.body)
	return last
}
