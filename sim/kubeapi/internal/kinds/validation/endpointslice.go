package validation

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const (
	maxEndpoints      = 1000
	maxAddresses      = 100
	maxPorts          = 20000
	maxTopologyLabels = 16
	maxHints          = 8
)

var (
	addressTypes = []discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
	protocols    = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}
)

func EndpointSlice(slice, old *discoveryv1.EndpointSlice, in resource.Cluster) (problems field.ErrorList) {
	kind := field.NewPath("addressType")
	switch {
	case slice.AddressType == "":
		problems = append(problems, field.Required(kind, ""))
	case !slices.Contains(addressTypes, slice.AddressType):
		problems = append(problems, field.NotSupported(kind, slice.AddressType, addressTypes))
	}
	problems = append(problems, validateEndpointPorts(slice.Ports, field.NewPath("ports"))...)
	problems = append(problems, validateEndpoints(slice, field.NewPath("endpoints"), in.LoopbackEndpoints())...)
	if old != nil {
		problems = append(problems, machinery.ValidateImmutableField(slice.AddressType, old.AddressType, kind)...)
	}
	return problems
}

func validateEndpointPorts(ports []discoveryv1.EndpointPort, at *field.Path) (problems field.ErrorList) {
	if n := len(ports); n > maxPorts {
		return field.ErrorList{field.TooMany(at, n, maxPorts)}
	}
	for i, port := range ports {
		at := at.Index(i)
		name := *port.Name // defaulted
		if name != "" && !plainLabel(name) {
			problems = append(problems, invalidAs(at.Child("name"), name, validation.IsDNS1123Label(name))...)
		}
		if slices.ContainsFunc(ports[:i], func(p discoveryv1.EndpointPort) bool { return *p.Name == name }) {
			problems = append(problems, field.Duplicate(at.Child("name"), port.Name))
		}
		if !slices.Contains(protocols, *port.Protocol) {
			problems = append(problems, field.NotSupported(at.Child("protocol"), *port.Protocol, protocols))
		}
		if port.AppProtocol != nil {
			problems = append(problems, invalidAs(at.Child("appProtocol"), *port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol))...)
		}
	}
	return problems
}

func validateEndpoints(slice *discoveryv1.EndpointSlice, at *field.Path, allowLoopback bool) (problems field.ErrorList) {
	if n := len(slice.Endpoints); n > maxEndpoints {
		return field.ErrorList{field.TooMany(at, n, maxEndpoints)}
	}
	for i := range slice.Endpoints {
		endpoint := &slice.Endpoints[i]
		if validEndpoint(endpoint, slice.AddressType, allowLoopback) {
			continue // saves building thousands of field paths for a large slice
		}
		problems = append(problems, validateEndpoint(endpoint, slice.AddressType, at.Index(i), allowLoopback)...)
	}
	return problems
}

// validEndpoint is a fast check for the most common endpoints. It may return false for other valid
// endpoints.
func validEndpoint(endpoint *discoveryv1.Endpoint, kind discoveryv1.AddressType, allowLoopback bool) bool {
	if kind != discoveryv1.AddressTypeIPv4 || len(endpoint.Addresses) != 1 ||
		endpoint.Hints != nil || endpoint.Hostname != nil || len(endpoint.DeprecatedTopology) > 0 {
		return false
	}
	if endpoint.NodeName != nil && !plainLabel(*endpoint.NodeName) {
		return false
	}
	ip, err := netip.ParseAddr(endpoint.Addresses[0])
	return err == nil && ip.Is4() && len(specialIP(ip, allowLoopback)) == 0
}

// plainLabel reports whether a name is a DNS label.
func plainLabel(name string) bool {
	if name == "" || len(name) > 63 || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

func validateEndpoint(endpoint *discoveryv1.Endpoint, kind discoveryv1.AddressType, at *field.Path, allowLoopback bool) (problems field.ErrorList) {
	addresses := at.Child("addresses")
	switch n := len(endpoint.Addresses); {
	case n == 0:
		problems = append(problems, field.Required(addresses, "must contain at least 1 address"))
	case n > maxAddresses:
		problems = append(problems, field.TooMany(addresses, n, maxAddresses))
	}
	for i, address := range endpoint.Addresses {
		problems = append(problems, validateAddress(address, kind, addresses, i, allowLoopback)...)
	}
	if endpoint.NodeName != nil {
		problems = append(problems, invalidAs(at.Child("nodeName"), *endpoint.NodeName, machinery.NameIsDNSSubdomain(*endpoint.NodeName, false))...)
	}
	topology := at.Child("deprecatedTopology")
	if n := len(endpoint.DeprecatedTopology); n > maxTopologyLabels {
		problems = append(problems, field.TooMany(topology, n, maxTopologyLabels))
	}
	problems = append(problems, metav1validation.ValidateLabels(endpoint.DeprecatedTopology, topology)...)
	if endpoint.Hostname != nil {
		problems = append(problems, invalidAs(at.Child("hostname"), *endpoint.Hostname, validation.IsDNS1123Label(*endpoint.Hostname))...)
	}
	if endpoint.Hints != nil {
		problems = append(problems, validateHints(endpoint.Hints, at.Child("hints"))...)
	}
	return problems
}

// validateAddress checks the i-th address of an endpoint. An address of the other IP family is
// reported at the path of the list, as in kube-apiserver.
func validateAddress(address string, kind discoveryv1.AddressType, list *field.Path, i int, allowLoopback bool) (problems field.ErrorList) {
	at := list.Index(i)
	switch kind {
	case discoveryv1.AddressTypeFQDN:
		return validation.IsFullyQualifiedDomainName(at, address)
	case discoveryv1.AddressTypeIPv4:
		problems = validation.IsValidIPForLegacyField(at, address, true, nil)
	case discoveryv1.AddressTypeIPv6:
		problems = validation.IsValidIP(at, address)
	default:
		return nil
	}
	ip, err := netip.ParseAddr(address)
	if len(problems) > 0 || err != nil {
		return problems
	}
	if ip.Is4() != (kind == discoveryv1.AddressTypeIPv4) {
		problems = append(problems, field.Invalid(list, address, fmt.Sprintf("must be an %s address", kind)))
	}
	return append(problems, invalidAs(at, address, specialIP(ip, allowLoopback))...)
}

// specialIP returns the reasons why an endpoint cannot have this address.
func specialIP(ip netip.Addr, allowLoopback bool) (messages []string) {
	if ip.IsUnspecified() {
		messages = append(messages, fmt.Sprintf("may not be unspecified (%v)", ip))
	}
	if ip.IsLoopback() && !allowLoopback {
		messages = append(messages, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	}
	if ip.IsLinkLocalUnicast() {
		messages = append(messages, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	}
	if ip.IsLinkLocalMulticast() {
		messages = append(messages, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
	return messages
}

func validateHints(hints *discoveryv1.EndpointHints, at *field.Path) (problems field.ErrorList) {
	var zones, nodes []string
	for _, zone := range hints.ForZones {
		zones = append(zones, zone.Name)
	}
	for _, node := range hints.ForNodes {
		nodes = append(nodes, node.Name)
	}
	problems = validateHintNames(zones, at.Child("forZones"), validation.IsValidLabelValue)
	return append(problems, validateHintNames(nodes, at.Child("forNodes"), func(name string) []string {
		return machinery.NameIsDNSSubdomain(name, false)
	})...)
}

func validateHintNames(names []string, at *field.Path, check func(string) []string) (problems field.ErrorList) {
	if n := len(names); n > maxHints {
		return field.ErrorList{field.TooMany(at, n, maxHints)}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			problems = append(problems, field.Duplicate(at.Index(i).Child("name"), name))
		}
		problems = append(problems, invalidAs(at.Index(i).Child("name"), name, check(name))...)
	}
	return problems
}
