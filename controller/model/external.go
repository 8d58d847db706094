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

// externalEndpoints returns the single endpoint of a service of type ExternalName, whose address is
// a name that Lua resolves. If requests cannot reach it, it also returns the reason.
func (b *builder) externalEndpoints(service *corev1.Service, wanted intstr.IntOrString) ([]Endpoint, string) {
	if b.options.DisableExternalNames {
		return nil, "is of type ExternalName, which --disable-svc-external-name forbids"
	}
	if !b.options.DynamicConfiguration {
		return nil, "is of type ExternalName, which requires dynamic configuration: without it, nginx would not start if DNS did not answer"
	}
	name := service.Spec.ExternalName
	if problem := invalidExternalName(name); problem != "" {
		return nil, fmt.Sprintf("has the externalName %q: %s", name, problem)
	}
	port := externalPort(service, wanted)
	problem := ""
	if port <= 0 { // as in ingress-nginx, nginx then fails to connect
		port, problem = 0, "has no port number for "+wanted.String()
	}
	return []Endpoint{{Address: name, Port: strconv.Itoa(port)}}, problem
}

// externalPort returns the target port of the service port with that name or number. Such a service
// need not declare its ports, so a number without a match is used directly. 0 means that there is
// none.
func externalPort(service *corev1.Service, wanted intstr.IntOrString) int {
	for _, port := range service.Spec.Ports {
		if port.Name == wanted.StrVal && wanted.Type == intstr.String || port.Port == wanted.IntVal && wanted.Type == intstr.Int {
			return int(targetPort(port).IntVal)
		}
	}
	return int(wanted.IntVal)
}

// invalidExternalName returns the reason why an external name is rejected, or "". It prevents
// ingresses from reaching servers inside the controller's own pod.
func invalidExternalName(name string) string {
	bare := strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(bare); err == nil {
		if ip := ip.Unmap(); ip.IsLoopback() || ip.IsUnspecified() {
			return "a loopback address refers to the controller's pod"
		}
		return ""
	}
	if strings.EqualFold(bare, "localhost") {
		return "it refers to the controller's pod"
	}
	if len(validation.IsDNS1123Subdomain(bare)) > 0 {
		return "not a DNS name"
	}
	return ""
}
