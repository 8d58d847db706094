package model

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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

// slicePorts are the ports of a slice that belong to a port of the service.
// An unnamed service port is the slice's only one; a named one is that of the
// same name; and where names say nothing a numeric target port is taken, as
// ingress-nginx does.
func slicePorts(all []discoveryv1.EndpointPort, port corev1.ServicePort) []int32 {
	target := targetPort(port)
	numeric := target.Type == intstr.Int && target.IntVal > 0
	if len(all) == 0 {
		if numeric {
			return []int32{target.IntVal}
		}
		return nil
	}
	var found []int32
	for _, slicePort := range all {
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
