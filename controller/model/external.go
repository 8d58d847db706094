package model

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// externalEndpoints is the one endpoint of a service of type ExternalName, a
// name that Lua looks up, or the problem with it.
func (b *builder) externalEndpoints(service *corev1.Service, wanted intstr.IntOrString) ([]Endpoint, string) {
	if b.options.DisableExternalNames {
		return nil, "is of type ExternalName, which --disable-svc-external-name forbids"
	}
	if !b.options.DynamicConfiguration {
		return nil, "is of type ExternalName, which takes dynamic configuration: nginx itself would not start without an answer from DNS"
	}
	name := service.Spec.ExternalName
	if problem := invalidExternalName(name); problem != "" {
		return nil, fmt.Sprintf("has the externalName %q: %s", name, problem)
	}
	port := externalPort(service, wanted)
	if port <= 0 {
		return nil, "has no port number for " + wanted.String()
	}
	return []Endpoint{{Address: name, Port: strconv.Itoa(port)}}, ""
}

// externalPort is the target of the service's port of that name or number, or
// the number itself: such a service need not name its ports. 0 is none.
func externalPort(service *corev1.Service, wanted intstr.IntOrString) int {
	for _, port := range service.Spec.Ports {
		if port.Name == wanted.StrVal && wanted.Type == intstr.String || port.Port == wanted.IntVal && wanted.Type == intstr.Int {
			return int(targetPort(port).IntVal)
		}
	}
	return int(wanted.IntVal)
}

// invalidExternalName keeps an ingress from reaching what listens inside the
// controller's own pod.
func invalidExternalName(name string) string {
	bare := strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(bare); err == nil {
		if ip := ip.Unmap(); ip.IsLoopback() || ip.IsUnspecified() {
			return "a loopback address is the controller's own"
		}
		return ""
	}
	if strings.EqualFold(bare, "localhost") {
		return "it is the controller's own"
	}
	if len(validation.IsDNS1123Subdomain(bare)) > 0 {
		return "not a DNS name"
	}
	return ""
}
