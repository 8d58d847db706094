package model

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// addDefaultBackend adds what answers when no ingress does: the first port of
// the service that the flag names or, when that has no endpoints, nginx's own
// server that knows only 404.
func (b *builder) addDefaultBackend() {
	backend := &Backend{Name: DefaultBackendName}
	b.backends[DefaultBackendName] = backend
	name := b.options.DefaultBackendService
	if name.Name != "" {
		service := b.Services[name]
		switch {
		case service == nil:
			b.findService(name, "the default backend does not exist; nginx answers 404 itself")
		case len(service.Spec.Ports) == 0:
			b.findService(name, "the default backend has no port; nginx answers 404 itself")
		default:
			backend.Endpoints = b.endpoints(service, service.Spec.Ports[0])
		}
	}
	if len(backend.Endpoints) == 0 {
		backend.Endpoints = []Endpoint{{Address: "127.0.0.1", Port: strconv.Itoa(b.options.Ports.Default)}}
	}
}

// addBackends adds the services that ingresses name. The oldest ingress that
// names a port makes its backend.
func (b *builder) addBackends() {
	for _, ingress := range b.Ingresses {
		if ingress.Spec.DefaultBackend != nil {
			b.addBackend(ingress, "spec.defaultBackend", ingress.Spec.DefaultBackend)
		}
		for path := range paths(ingress) {
			b.addBackend(ingress, path.key, &path.Backend)
		}
	}
}

func (b *builder) addBackend(ingress *networkingv1.Ingress, key string, wanted *networkingv1.IngressBackend) {
	if wanted.Service == nil {
		b.find(ingress, key, "only services can be backends; it is left out")
		return
	}
	name := backendName(ingress.Namespace, wanted.Service)
	if b.backends[name] != nil {
		return
	}
	port := ServicePort(wanted.Service)
	backend := &Backend{Name: name, Port: port, LoadBalance: b.options.Config.LoadBalance}
	b.backends[name] = backend

	serviceName := types.NamespacedName{Namespace: ingress.Namespace, Name: wanted.Service.Name}
	service := b.Services[serviceName]
	if service == nil {
		b.find(ingress, key, "service %s does not exist; requests get 503", serviceName)
		return
	}
	backend.Service = service
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		b.find(ingress, key, "service %s is of type ExternalName, which is not supported yet; requests get 503", serviceName)
		return
	}
	servicePort, ok := findPort(service, port)
	if !ok {
		b.find(ingress, key, "service %s has no TCP port %s; requests get 503", serviceName, port.String())
		return
	}
	backend.Endpoints = b.endpoints(service, servicePort)
}

// findPort is the TCP port of a service whose number, target or name is
// wanted; ingress-nginx takes all three.
func findPort(service *corev1.Service, wanted intstr.IntOrString) (corev1.ServicePort, bool) {
	text := wanted.String()
	for _, port := range service.Spec.Ports {
		if protocolOf(port.Protocol) != corev1.ProtocolTCP {
			continue
		}
		if strconv.Itoa(int(port.Port)) == text || targetPort(port).String() == text || port.Name == text {
			return port, true
		}
	}
	return corev1.ServicePort{}, false
}

// targetPort is the port itself unless something else is said (Service API).
func targetPort(port corev1.ServicePort) *intstr.IntOrString {
	if port.TargetPort == (intstr.IntOrString{}) {
		return new(intstr.FromInt32(port.Port))
	}
	return &port.TargetPort
}

// protocolOf is TCP unless something else is said (Service API).
func protocolOf(protocol corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return corev1.ProtocolTCP
	}
	return protocol
}
