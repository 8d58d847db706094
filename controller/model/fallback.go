package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/snapshot"
)

// fallbackService returns the service in an ingress's default-backend annotation, or nil. It
// answers if the ingress's backends have no endpoints.
func (b *builder) fallbackService(ingress *networkingv1.Ingress) *corev1.Service {
	name := b.annotations(ingress).Backend.DefaultBackend
	if name == "" {
		return nil
	}
	return b.service(types.NamespacedName{Namespace: ingress.Namespace, Name: name})
}

// addFallbacks points locations whose backend has no endpoint to the service in their
// default-backend annotation. It also sends errors there, for locations with custom-http-errors.
// Therefore a backend's first or last endpoint can change nginx.conf.
func (b *builder) addFallbacks() {
	b.findFallbacks()
	for _, host := range slices.Sorted(maps.Keys(b.servers)) { // the first fallback to a service decides its settings
		for _, location := range b.servers[host].Locations {
			if location.DefaultBackend != nil {
				b.addFallback(location)
			}
		}
	}
}

func (b *builder) addFallback(location *Location) {
	backend := b.backends[location.Backend]
	b.decisive[backend.Name] = true
	if len(backend.Endpoints) > 0 && len(location.CustomHTTPErrors) == 0 {
		return
	}
	fallback := b.fallback(location.DefaultBackend, backend)
	if len(fallback.Endpoints) == 0 {
		b.frozen[snapshot.NameOf(location.DefaultBackend)] = true
		return
	}
	b.decisive[fallback.Name] = true
	b.backends[fallback.Name] = fallback
	location.DefaultBackendUpstreamName = fallback.Name
	if len(backend.Endpoints) == 0 {
		location.Backend = fallback.Name
	}
}

// fallback returns a backend for the first port of a service, with the settings of the backend that
// it replaces: its algorithm, session affinity and canaries.
func (b *builder) fallback(service *corev1.Service, replaced *Backend) *Backend {
	name := fallbackName(snapshot.NameOf(service))
	if have := b.backends[name]; have != nil && have.of == snapshot.NameOf(service) {
		return have
	} else if have != nil {
		return &Backend{Name: name} // without endpoints, because the name belongs to another service
	}
	backend := new(*replaced)
	backend.Name, backend.Service, backend.of = name, service, snapshot.NameOf(service)
	backend.Port, backend.Endpoints = intstr.IntOrString{}, nil
	backend.problem, backend.withoutClusterIP = "", false
	var problem string
	if backend.source, problem = b.firstPort(service); problem == "" { // findFallbacks reports it
		backend.Port = intstr.FromInt32(service.Spec.Ports[0].Port)
		backend.Endpoints = b.allowedEndpoints(backend.source)
	}
	return backend
}

// firstPort returns the endpoints of the first port of a default-backend service. If it has none,
// it returns the reason.
func (b *builder) firstPort(service *corev1.Service) (source, string) {
	if len(service.Spec.Ports) == 0 {
		return source{}, "has no port"
	}
	port := service.Spec.Ports[0]
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		endpoints, problem := b.externalEndpoints(service, intstr.FromInt32(port.Port))
		return source{fixed: endpoints}, problem
	}
	return source{service: service, port: port}, ""
}

// fallbackName returns ingress-nginx's name for the backend of a service in a default-backend
// annotation.
func fallbackName(service types.NamespacedName) string {
	return "custom-default-backend-" + service.Namespace + "-" + service.Name
}

// findFallbacks reports default-backend services that do not exist or cannot have endpoints.
func (b *builder) findFallbacks() {
	for _, ingress := range b.Ingresses {
		name := b.annotations(ingress).Backend.DefaultBackend
		if name == "" {
			continue
		}
		problem := "does not exist"
		if service := b.fallbackService(ingress); service != nil {
			_, problem = b.firstPort(service)
		}
		if problem != "" {
			b.find(ingress, b.annotationKey("default-backend"), "service %s/%s %s; it is ignored", ingress.Namespace, name, problem)
		}
	}
}
