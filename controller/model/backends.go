package model

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// addDefaultBackend adds the backend for requests that match no ingress: the first port of the
// service in --default-backend-service or, if that has no endpoints, nginx's own server, which
// always answers 404.
func (b *builder) addDefaultBackend() {
	if !b.isCommon() {
		b.backends[DefaultBackendName] = b.common.defaultBackend
		return
	}
	own := []Endpoint{{Address: "127.0.0.1", Port: strconv.Itoa(b.options.Ports.Default)}}
	backend := &Backend{Name: DefaultBackendName, source: source{otherwise: own}}
	b.backends[DefaultBackendName] = backend
	name := b.options.DefaultBackendService
	if name.Name != "" {
		b.useDefaultService(backend, name)
	}
	backend.Endpoints = b.allowedEndpoints(backend.source)
	b.common.defaultBackend = backend
}

// useDefaultService makes a service answer the requests of the default backend.
func (b *builder) useDefaultService(backend *Backend, name types.NamespacedName) {
	service := b.service(name)
	if service == nil {
		b.findService(name, "the default backend does not exist; nginx answers 404 itself")
		return
	}
	from, problem := b.firstPort(service)
	if problem != "" {
		b.findService(name, "the default backend "+problem+"; nginx answers 404 itself")
		return
	}
	from.otherwise = backend.source.otherwise
	backend.source = from
	if from.fixed != nil {
		backend.Service = service // Lua sees from its type that the endpoint is a name
	}
}

// addBackends adds the services that ingresses refer to. The oldest ingress that refers to a port
// defines its backend. Canaries come last, because a service can be a canary on one host and a
// regular backend on another.
func (b *builder) addBackends() {
	b.findIgnoredAlgorithms()
	for _, canary := range []bool{false, true} {
		for _, ingress := range b.Ingresses {
			if b.isCanary(ingress) != canary || b.closed(ingress) {
				continue
			}
			if ingress.Spec.DefaultBackend != nil {
				b.addBackend(ingress, "spec.defaultBackend", ingress.Spec.DefaultBackend)
			}
			for path := range paths(ingress) {
				b.addBackend(ingress, path.key, &path.Backend)
			}
		}
	}
}

func (b *builder) addBackend(ingress *networkingv1.Ingress, key string, wanted *networkingv1.IngressBackend) {
	if wanted.Service == nil {
		b.find(ingress, key, "only services can be backends; this backend is left out")
		return
	}
	name := backendName(ingress.Namespace, wanted.Service)
	backend := b.backends[name]
	if backend == nil {
		backend = b.backend(name, ingress, wanted.Service)
		b.backends[name] = backend
	} else if b.isNameTaken(ingress, wanted.Service) {
		b.find(ingress, key, "its backend would have the same name as that of service %s; its requests get 503", backend.of)
		return
	}
	b.findProblems(backend, ingress, key)
	if canary := b.annotations(ingress).Canary; canary.Enabled && !backend.TrafficShapingPolicy.Enabled {
		backend.TrafficShapingPolicy = canary
	}
}

// findProblems reports the problems of a backend as findings of an ingress that refers to it.
func (b *builder) findProblems(backend *Backend, ingress *networkingv1.Ingress, key string) {
	if backend.withoutClusterIP && b.annotations(ingress).Backend.ServiceUpstream {
		b.find(ingress, key, "service %s has no cluster IP, which service-upstream requires; its endpoints are used", backend.of)
	}
	if backend.problem != "" {
		b.find(ingress, key, "service %s %s", backend.of, backend.problem)
	}
}

// isNameTaken reports whether the wanted backend name belongs to another service: service b-c in
// namespace a and service c in namespace a-b have the same backend name. The oldest ingress gets
// the name; requests must not reach the wrong service.
func (b *builder) isNameTaken(ingress *networkingv1.Ingress, wanted *networkingv1.IngressServiceBackend) bool {
	backend := b.backends[backendName(ingress.Namespace, wanted)]
	return backend != nil && backend.of != types.NamespacedName{Namespace: ingress.Namespace, Name: wanted.Name}
}

// backend returns a new backend with the settings of the ingress that defines it.
func (b *builder) backend(name string, ingress *networkingv1.Ingress, wanted *networkingv1.IngressServiceBackend) *Backend {
	set := b.annotations(ingress)
	backend := &Backend{
		Name:           name,
		Port:           ServicePort(wanted),
		LoadBalancing:  b.loadBalance(ingress),
		UpstreamHashBy: set.Backend.UpstreamHashBy,
		NoServer:       set.Canary.Enabled,
	}
	serviceName := types.NamespacedName{Namespace: ingress.Namespace, Name: wanted.Name}
	backend.of = serviceName
	service := b.service(serviceName)
	if service == nil {
		backend.problem = "does not exist; requests get 503"
		return backend
	}
	backend.Service = service
	var problem string
	port, ok := findPort(service, backend.Port)
	switch {
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		backend.source.fixed, problem = b.externalEndpoints(service, backend.Port)
	case set.Backend.ServiceUpstream && useClusterIP(backend):
	case !ok:
		problem = "has no TCP port " + backend.Port.String()
	default:
		backend.source.service, backend.source.port = service, port
	}
	if problem != "" {
		status := 503
		if len(backend.source.fixed) > 0 {
			status = 502 // nginx fails to connect
		}
		backend.problem = fmt.Sprintf("%s; requests get %d", problem, status)
	}
	backend.Endpoints = b.allowedEndpoints(backend.source)
	return backend
}

// useClusterIP makes the service's cluster IP the only endpoint, so Kubernetes balances the load.
// It returns false if the service has no cluster IP or port. As in ingress-nginx, a port number is
// used even if the service does not declare it.
func useClusterIP(backend *Backend) bool {
	service := backend.Service
	ip := service.Spec.ClusterIP
	backend.withoutClusterIP = ip == "" || ip == corev1.ClusterIPNone
	if backend.withoutClusterIP {
		return false
	}
	port, ok := findPort(service, backend.Port)
	if backend.Port.Type == intstr.Int {
		port.Port, ok = backend.Port.IntVal, true
	}
	if ok {
		backend.source.service, backend.source.port = service, port
		backend.source.fixed = []Endpoint{{Address: ip, Port: strconv.Itoa(int(port.Port))}}
	}
	return ok
}
