package load

import (
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PostObjects is the number of objects that a Post creates.
const PostObjects = 3

// Poster creates applications, one after the other, over a connection of its own. Each is a Service
// with a cluster IP, its EndpointSlice with ten endpoints, and an Ingress.
type Poster struct {
	connection
	requests []request
}

// NewPoster returns a Poster for a namespace that exists. Posters with different prefixes create
// objects with different names. The token may be empty. mediaType is the media type of the requests
// and of their answers.
func NewPoster(conn net.Conn, namespace, prefix, mediaType, token string) (*Poster, error) {
	p := &Poster{connection: newConnection(conn)}
	name := prefix + "-" + zeros
	for _, post := range []struct {
		path string
		obj  runtime.Object
	}{
		{"/api/v1/namespaces/%s/services", service(namespace, name)},
		{"/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices", sliceOf(namespace, name)},
		{"/apis/networking.k8s.io/v1/namespaces/%s/ingresses", ingress(namespace, name)},
	} {
		r, err := p.newRequest("POST", fmt.Sprintf(post.path, namespace), post.obj, mediaType, token, name, -1)
		if err != nil {
			return nil, err
		}
		p.requests = append(p.requests, r)
	}
	return p, nil
}

// Post creates the application with the number n, one object after the other. It returns an error
// if an answer is not a success.
func (p *Poster) Post(n int64) error {
	for _, r := range p.requests {
		if err := p.send(r, n); err != nil {
			return err
		}
	}
	return nil
}

func service(namespace, name string) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{Kind: "Service", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80}},
		},
	}
}

func sliceOf(namespace, service string) *discoveryv1.EndpointSlice {
	s := Slice(namespace, service, 10)
	s.Labels[discoveryv1.LabelServiceName] = service
	return s
}

func ingress(namespace, name string) *networkingv1.Ingress {
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Name: "http"}}}
	return &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{Kind: "Ingress", APIVersion: "networking.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new("nginx"),
			Rules: []networkingv1.IngressRule{{
				Host: name + ".example.com",
				IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
					Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: backend}},
				}},
			}},
		},
	}
}
