package corpus

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Cluster has the parts, besides the services, of a population that was imported from a user's cluster.
// Package sim/corpus/imported makes it.
type Cluster struct {
	// Objects are all objects except those services and their EndpointSlices, in an order in which they
	// can be created.
	Objects []runtime.Object
	// Targets are the URLs that a pod of their service answers with 200.
	Targets []Target
	// Unchanged are services with pods, but without a target. No churn changes them, because no answer
	// could show it.
	Unchanged []Service
}

// Imported has the properties that only services of imported clusters have.
type Imported struct {
	Service *corev1.Service
	Ports   []discoveryv1.EndpointPort // of its pods
	Unready []string                   // pods that are in its endpoints and not ready; they are not among Pods
	// Route is an ingress with a target of the service, and Backend the service's port in it; nil and
	// zero if there is none.
	Route   *networkingv1.Ingress
	Backend networkingv1.ServiceBackendPort
}

// WithPods returns all services with pods: those that churn may change, and the others.
func (p Population) WithPods() []Service {
	if p.Cluster == nil {
		return p.Services
	}
	return append(p.Services[:len(p.Services):len(p.Services)], p.Cluster.Unchanged...)
}

// Unready returns the pods of the service that are in its endpoints and not ready.
func (s Service) Unready() []string {
	if s.Imported == nil {
		return nil
	}
	return s.Imported.Unready
}

// FurtherPorts returns the ports on which the pods of the service listen besides Port.
func (s Service) FurtherPorts() []int {
	if s.Imported == nil {
		return nil
	}
	var further []int
	for _, port := range s.Imported.Ports {
		if number := *port.Port; number != s.Port {
			further = append(further, int(number))
		}
	}
	return further
}

// Backend returns the port of the service that ingresses name.
func (s Service) Backend() networkingv1.ServiceBackendPort {
	if s.Imported == nil {
		return networkingv1.ServiceBackendPort{Number: servicePort}
	}
	return s.Imported.Backend
}

// endpointPorts returns the ports of the service's EndpointSlices.
func (s Service) endpointPorts() []discoveryv1.EndpointPort {
	if s.Imported != nil {
		return s.Imported.Ports
	}
	ports := []discoveryv1.EndpointPort{{Name: new(portName), Port: new(s.Port), Protocol: new(corev1.ProtocolTCP)}}
	if s.StreamPort != 0 {
		ports = append(ports,
			discoveryv1.EndpointPort{Name: new(tcpName), Port: new(s.StreamPort), Protocol: new(corev1.ProtocolTCP)},
			discoveryv1.EndpointPort{Name: new(udpName), Port: new(s.StreamPort), Protocol: new(corev1.ProtocolUDP)})
	}
	return ports
}

// Routing returns an ingress that routes to a service, or nil if there is none.
func (p Population) Routing(s Service) *networkingv1.Ingress {
	if s.Imported != nil {
		return s.Imported.Route.DeepCopy()
	}
	for _, ingress := range p.Ingresses {
		for _, path := range ingress.Paths {
			if path.Service == s.Name {
				return p.Ingress(ingress)
			}
		}
	}
	return nil
}
