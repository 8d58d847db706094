package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// IngressClass is the class of the ingresses, and ControllerName the controller of that class. Both
// are the defaults of ingress-nginx.
const (
	IngressClass   = "nginx"
	ControllerName = "k8s.io/ingress-nginx"
)

const (
	portName    = "http"
	servicePort = 80
	tcpName     = "tcp"
	udpName     = "udp"
	streamPort  = 9000 // of a service, for TCP and UDP
)

// Objects returns the population as Kubernetes objects, in an order in which they can be created.
// address returns the address of a pod, as namespace/name.
func (p Population) Objects(address func(pod string) netip.Addr) []runtime.Object {
	objects := p.first()
	for _, s := range p.WithPods() {
		objects = append(objects, s.Object())
	}
	for _, s := range p.WithPods() {
		for _, slice := range Slices(s, s.members(address)) {
			objects = append(objects, slice)
		}
	}
	for _, ingress := range p.Ingresses {
		if p.TLS {
			objects = append(objects, p.Secret(ingress, 1))
		}
		objects = append(objects, p.Ingress(ingress))
	}
	return objects
}

// Namespaces returns those of the population's objects, without duplicates.
func (p Population) Namespaces() []string {
	all := []string{p.Namespace}
	add := func(name string) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if p.Cluster != nil {
		for _, object := range p.Cluster.Objects {
			if namespace, is := object.(*corev1.Namespace); is { // an imported cluster has one for each
				add(namespace.Name)
			}
		}
	}
	for _, s := range p.WithPods() {
		add(s.Namespace)
	}
	return all
}

// members returns the pods of the service when a run begins.
func (s Service) members(address func(pod string) netip.Addr) []Member {
	var members []Member
	for _, pod := range s.Pods {
		members = append(members, Member{Pod: pod, Address: address(s.Namespace + "/" + pod), Serving: true})
	}
	for _, pod := range s.Unready() {
		members = append(members, Member{Pod: pod, Address: address(s.Namespace + "/" + pod)})
	}
	return members
}

// first returns the objects that come before the services.
func (p Population) first() []runtime.Object {
	if p.Cluster != nil {
		var copies []runtime.Object
		for _, object := range p.Cluster.Objects {
			copies = append(copies, object.DeepCopyObject())
		}
		return copies
	}
	return []runtime.Object{
		&corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: p.Namespace},
		},
		&networkingv1.IngressClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IngressClass"},
			ObjectMeta: metav1.ObjectMeta{Name: IngressClass},
			Spec:       networkingv1.IngressClassSpec{Controller: ControllerName},
		},
	}
}

// Ingress returns one of the population's ingresses as a Kubernetes object, with its certificate if
// the population has certificates.
func (p Population) Ingress(i Ingress) *networkingv1.Ingress {
	object := i.Object(p.Namespace)
	if p.TLS {
		i.secure(object)
	}
	return object
}

// StreamBackend returns the service as the TCP and UDP ConfigMaps of ingress-nginx name it:
// namespace/name:port.
func (s Service) StreamBackend() string { return fmt.Sprintf("%s:%d", s.Key(), streamPort) }

// Object returns the Service as a Kubernetes object.
func (s Service) Object() *corev1.Service {
	if s.Imported != nil {
		return s.Imported.Service.DeepCopy()
	}
	object := s.overHTTP()
	if s.StreamPort != 0 {
		object.Spec.Ports = append(object.Spec.Ports,
			corev1.ServicePort{Name: tcpName, Port: streamPort, TargetPort: intstr.FromInt32(s.StreamPort), Protocol: corev1.ProtocolTCP},
			corev1.ServicePort{Name: udpName, Port: streamPort, TargetPort: intstr.FromInt32(s.StreamPort), Protocol: corev1.ProtocolUDP})
	}
	return object
}

func (s Service) overHTTP() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		Spec: corev1.ServiceSpec{
			// With a selector the cluster's own controller would write slices in addition to ours.
			Type: corev1.ServiceTypeClusterIP,
			Ports: []corev1.ServicePort{{
				Name:       portName,
				Port:       servicePort,
				TargetPort: intstr.FromInt32(s.Port),
				Protocol:   corev1.ProtocolTCP,
			}},
		},
	}
}

// allPaths returns the paths of the ingress, with its further ones.
func (i Ingress) allPaths() []Path {
	all := slices.Clone(i.Paths)
	for n := range i.Further {
		path := i.Paths[0]
		path.Prefix = fmt.Sprintf("/path-%d", n+1)
		all = append(all, path)
	}
	return all
}

// Object returns the Ingress as a Kubernetes object.
func (i Ingress) Object(namespace string) *networkingv1.Ingress {
	rule := &networkingv1.HTTPIngressRuleValue{}
	for _, path := range i.allPaths() {
		port := path.Port
		if port == (networkingv1.ServiceBackendPort{}) {
			port.Number = servicePort
		}
		rule.Paths = append(rule.Paths, networkingv1.HTTPIngressPath{
			Path:     path.Prefix,
			PathType: new(networkingv1.PathTypePrefix),
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: path.Service,
				Port: port,
			}},
		})
	}
	return &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: i.Name, Annotations: maps.Clone(i.Annotations)},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new(cmp.Or(i.Class, IngressClass)),
			Rules: []networkingv1.IngressRule{{
				Host:             i.Host,
				IngressRuleValue: networkingv1.IngressRuleValue{HTTP: rule},
			}},
		},
	}
}
