package model

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/snapshot"
)

// endpoints are the ready endpoints of a service's port, each once, by address
// and port: equal slices in any order make equal bytes.
func (b *builder) endpoints(service *corev1.Service, port corev1.ServicePort) []Endpoint {
	var all []Endpoint
	for _, slice := range b.EndpointSlices[snapshot.NameOf(service)] {
		if slice.AddressType == discoveryv1.AddressTypeFQDN {
			continue // nginx balances over addresses; Kubernetes deprecated the type
		}
		for _, number := range targetPorts(slice.Ports, port) {
			for _, endpoint := range slice.Endpoints {
				if isReady(endpoint) {
					all = appendAddresses(all, endpoint, number)
				}
			}
		}
	}
	slices.SortFunc(all, func(x, y Endpoint) int {
		return cmp.Or(cmp.Compare(x.Address, y.Address), cmp.Compare(x.Port, y.Port))
	})
	return slices.Compact(all)
}

func appendAddresses(all []Endpoint, endpoint discoveryv1.Endpoint, port int32) []Endpoint {
	for _, address := range endpoint.Addresses {
		all = append(all, Endpoint{Address: address, Port: strconv.Itoa(int(port))})
	}
	return all
}

// isReady is false only when the slice says so: unknown counts as ready
// (EndpointSlice API), and a terminating pod is not ready.
func isReady(endpoint discoveryv1.Endpoint) bool {
	return endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
}

// targetPorts are the ports of a slice that belong to a port of the service.
// An unnamed service port is the slice's only one; a named one is that of the
// same name; and where names say nothing a numeric target port is taken, as
// ingress-nginx does.
func targetPorts(slicePorts []discoveryv1.EndpointPort, port corev1.ServicePort) []int32 {
	target := targetPort(port)
	numeric := target.Type == intstr.Int && target.IntVal > 0
	if len(slicePorts) == 0 {
		if numeric {
			return []int32{target.IntVal}
		}
		return nil
	}
	var found []int32
	for _, slicePort := range slicePorts {
		switch {
		case slicePort.Protocol != nil && *slicePort.Protocol != protocolOf(port.Protocol):
		case slicePort.Port != nil && (port.Name == "" || slicePort.Name != nil && *slicePort.Name == port.Name):
			found = append(found, *slicePort.Port)
		case numeric:
			found = append(found, target.IntVal)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
