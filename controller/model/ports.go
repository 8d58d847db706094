package model

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// findPort returns the TCP port of a service that has the wanted number, target port or name.
// ingress-nginx accepts all three.
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

// targetPort returns the target port of a service port, which defaults to the port itself (Service
// API).
func targetPort(port corev1.ServicePort) *intstr.IntOrString {
	if port.TargetPort == (intstr.IntOrString{}) {
		return new(intstr.FromInt32(port.Port))
	}
	return &port.TargetPort
}

// protocolOf returns the protocol, which defaults to TCP (Service API).
func protocolOf(protocol corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return corev1.ProtocolTCP
	}
	return protocol
}

// slicePorts returns the port numbers in a slice that belong to a service port: all ports if the
// service port has no name, otherwise those of the same name. If no name matches, a numeric target
// port is used, as in ingress-nginx.
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
