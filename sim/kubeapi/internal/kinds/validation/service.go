// Package validation checks objects of the built-in kinds. It stands between a complete object and
// the store. Its one rule: it reports problems with kube-apiserver's messages, and changes nothing.
//
// The functions that have the name of a kind take a complete object and the one that it replaces, which
// is nil for a new one. They return all problems, or nil. Rules and messages are those of
// kube-apiserver (pkg/apis/<group>/validation), limited to those that users of an ingress encounter.
// Package cluster validates the metadata of every kind.
package validation

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/kinds/defaults"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var (
	serviceTypes     = []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort}
	affinities       = []corev1.ServiceAffinity{corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone}
	externalPolicies = []corev1.ServiceExternalTrafficPolicy{corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal}
	internalPolicies = []corev1.ServiceInternalTrafficPolicy{corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal}
	distributions    = []string{corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode}
)

const maxAffinitySeconds = 86400

func Service(svc, old *corev1.Service, _ resource.Cluster) (problems field.ErrorList) {
	spec, at := &svc.Spec, field.NewPath("spec")
	if old != nil && !equality.Semantic.DeepEqual(svc.Status, old.Status) {
		problems = append(problems, validateLoadBalancerStatus(svc)...)
	}
	if old != nil {
		problems = append(problems, validateSameClusterIP(spec, &old.Spec, at)...)
		if defaults.NeedsHealthCheck(spec) && defaults.NeedsHealthCheck(&old.Spec) && spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort {
			problems = append(problems, field.Forbidden(at.Child("healthCheckNodePort"), "field is immutable"))
		}
	}
	problems = append(problems, validateServiceType(spec, at)...)
	problems = append(problems, validateServicePorts(spec, at.Child("ports"))...)
	problems = append(problems, metav1validation.ValidateLabels(spec.Selector, at.Child("selector"))...)
	problems = append(problems, validateAffinity(spec, at)...)
	problems = append(problems, validateClusterIPs(spec, at)...)
	for i, ip := range spec.ExternalIPs {
		problems = append(problems, validateExternalIP(ip, at.Child("externalIPs").Index(i))...)
	}
	problems = append(problems, validateLoadBalancer(spec, at)...)
	return append(problems, validateTrafficPolicies(spec, at)...)
}

// validateLoadBalancerStatus validates a changed load balancer status.
func validateLoadBalancerStatus(svc *corev1.Service) (problems field.ErrorList) {
	path := field.NewPath("status", "loadBalancer", "ingress")
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer && len(svc.Status.LoadBalancer.Ingress) > 0 {
		return field.ErrorList{field.Forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	for i, ingress := range svc.Status.LoadBalancer.Ingress {
		if _, err := netip.ParseAddr(ingress.IP); ingress.IP != "" && err != nil {
			problems = append(problems, field.Invalid(path.Index(i).Child("ip"), ingress.IP, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
		}
		problems = append(problems, nameRule(path.Index(i).Child("hostname"), ingress.Hostname, machinery.NameIsDNSSubdomain)...)
		if ingress.IPMode != nil && ingress.IP == "" {
			problems = append(problems, field.Forbidden(path.Index(i).Child("ipMode"), "may not be specified when `ip` is not set"))
		}
	}
	return problems
}

func validateSameClusterIP(spec, old *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	if spec.Type == corev1.ServiceTypeExternalName || old.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	for i, ip := range old.ClusterIPs {
		if i < len(spec.ClusterIPs) && spec.ClusterIPs[i] != ip {
			problems = append(problems, field.Invalid(at.Child("clusterIPs").Index(i), spec.ClusterIPs, "may not change once set"))
		}
	}
	return problems
}

func validateServiceType(spec *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	ips := at.Child("clusterIPs")
	if len(spec.Ports) == 0 && !defaults.Headless(spec) && spec.Type != corev1.ServiceTypeExternalName {
		problems = append(problems, field.Required(at.Child("ports"), ""))
	}
	switch spec.Type {
	case corev1.ServiceTypeClusterIP:
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if defaults.Headless(spec) {
			problems = append(problems, field.Invalid(ips.Index(0), corev1.ClusterIPNone, fmt.Sprintf("may not be set to 'None' for %s services", spec.Type)))
		}
	case corev1.ServiceTypeExternalName:
		problems = append(problems, validateExternalName(spec, at)...)
	default:
		problems = append(problems, field.NotSupported(at.Child("type"), spec.Type, serviceTypes))
	}
	return problems
}

func validateExternalName(spec *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	forbid := func(set bool, name string) {
		if set {
			problems = append(problems, field.Forbidden(at.Child(name), "may not be set for ExternalName services"))
		}
	}
	forbid(len(spec.ClusterIPs) > 0, "clusterIPs")
	forbid(len(spec.IPFamilies) > 0, "ipFamilies")
	forbid(spec.IPFamilyPolicy != nil, "ipFamilyPolicy")
	name := spec.ExternalName
	if n := len(name); n > 1 && name[n-1] == '.' {
		name = name[:n-1] // fully qualified
	}
	if name == "" || name == "." {
		return append(problems, field.Required(at.Child("externalName"), ""))
	}
	return append(problems, invalidAs(at.Child("externalName"), name, validation.IsDNS1123Subdomain(name))...)
}

func validateServicePorts(spec *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	type number struct {
		protocol corev1.Protocol
		port     int32
	}
	names, ports, nodePorts := map[string]bool{}, map[number]bool{}, map[number]bool{}
	for i := range spec.Ports {
		port, at := &spec.Ports[i], at.Index(i)
		problems = append(problems, validateServicePort(port, at, len(spec.Ports) > 1)...)
		if port.Name != "" && names[port.Name] {
			problems = append(problems, field.Duplicate(at.Child("name"), port.Name))
		}
		names[port.Name] = true
		if port.NodePort != 0 && spec.Type == corev1.ServiceTypeClusterIP {
			problems = append(problems, field.Forbidden(at.Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
		if key := (number{port.Protocol, port.NodePort}); port.NodePort != 0 {
			if nodePorts[key] {
				problems = append(problems, field.Duplicate(at.Child("nodePort"), port.NodePort))
			}
			nodePorts[key] = true
		}
		key := number{port.Protocol, port.Port}
		if ports[key] {
			problems = append(problems, field.Duplicate(at, corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}))
		}
		ports[key] = true
	}
	return problems
}

func validateServicePort(port *corev1.ServicePort, at *field.Path, several bool) (problems field.ErrorList) {
	switch {
	case port.Name != "":
		problems = append(problems, invalidAs(at.Child("name"), port.Name, validation.IsDNS1123Label(port.Name))...)
	case several:
		problems = append(problems, field.Required(at.Child("name"), ""))
	}
	problems = append(problems, invalidAs(at.Child("port"), port.Port, validation.IsValidPortNum(int(port.Port)))...)
	if !slices.Contains(protocols, port.Protocol) {
		problems = append(problems, field.NotSupported(at.Child("protocol"), port.Protocol, protocols))
	}
	target := at.Child("targetPort")
	if port.TargetPort.Type == intstr.String {
		problems = append(problems, invalidAs(target, port.TargetPort.StrVal, validation.IsValidPortName(port.TargetPort.StrVal))...)
	} else {
		problems = append(problems, invalidAs(target, port.TargetPort.IntValue(), validation.IsValidPortNum(port.TargetPort.IntValue()))...)
	}
	if port.AppProtocol != nil {
		problems = append(problems, invalidAs(at.Child("appProtocol"), *port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol))...)
	}
	return problems
}

func validateAffinity(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	config, seconds := at.Child("sessionAffinityConfig"), at.Child("sessionAffinityConfig", "clientIP", "timeoutSeconds")
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		if spec.SessionAffinityConfig != nil {
			return field.ErrorList{field.Forbidden(config, "must not be set when session affinity is None")}
		}
	case corev1.ServiceAffinityClientIP: // its timeout has a default
		if n := *spec.SessionAffinityConfig.ClientIP.TimeoutSeconds; n <= 0 || n > maxAffinitySeconds {
			return field.ErrorList{field.Invalid(seconds, n, fmt.Sprintf("must be greater than 0 and less than %d", maxAffinitySeconds))}
		}
	default:
		return field.ErrorList{field.NotSupported(at.Child("sessionAffinity"), spec.SessionAffinity, affinities)}
	}
	return nil
}

func validateClusterIPs(spec *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	ips := at.Child("clusterIPs")
	switch {
	case len(spec.ClusterIPs) == 0 || spec.ClusterIPs[0] == spec.ClusterIP:
	case spec.ClusterIP == "":
		problems = append(problems, field.Invalid(ips, spec.ClusterIPs, "must be empty when `clusterIP` is not specified"))
	default:
		problems = append(problems, field.Invalid(ips, spec.ClusterIPs, "first value must match `clusterIP`"))
	}
	for i, family := range spec.IPFamilies {
		if family != corev1.IPv4Protocol && family != corev1.IPv6Protocol {
			problems = append(problems, field.NotSupported(at.Child("ipFamilies").Index(i), family, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}))
		}
		if slices.Contains(spec.IPFamilies[:i], family) {
			problems = append(problems, field.Duplicate(at.Child("ipFamilies").Index(i), family))
		}
	}
	if spec.Type == corev1.ServiceTypeExternalName || defaults.Headless(spec) {
		return problems
	}
	for i, ip := range spec.ClusterIPs {
		bad := validation.IsValidIPForLegacyField(ips.Index(i), ip, true, nil)
		problems = append(problems, bad...)
		if len(bad) > 0 || i >= len(spec.IPFamilies) {
			continue
		}
		if addr, err := netip.ParseAddr(ip); err == nil && addr.Is4() != (spec.IPFamilies[i] == corev1.IPv4Protocol) {
			problems = append(problems, field.Invalid(ips.Index(i), ip,
				fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", spec.IPFamilies[i], i)))
		}
	}
	return problems
}

func validateExternalIP(ip string, at *field.Path) field.ErrorList {
	if problems := validation.IsValidIPForLegacyField(at, ip, true, nil); len(problems) > 0 {
		return problems
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return nil
	}
	return invalidAs(at, ip, specialIP(addr, false))
}

// validateLoadBalancer checks the fields that are only valid for type LoadBalancer.
func validateLoadBalancer(spec *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		if spec.LoadBalancerClass != nil {
			problems = append(problems, invalidAs(at.Child("loadBalancerClass"), *spec.LoadBalancerClass, validation.IsQualifiedName(*spec.LoadBalancerClass))...)
		}
		return problems
	}
	forbid := func(set bool, name string) {
		if set {
			problems = append(problems, field.Forbidden(at.Child(name), "may only be used when `type` is 'LoadBalancer'"))
		}
	}
	forbid(len(spec.LoadBalancerSourceRanges) > 0, "LoadBalancerSourceRanges") // capitalized as in kube-apiserver
	forbid(spec.AllocateLoadBalancerNodePorts != nil, "allocateLoadBalancerNodePorts")
	forbid(spec.LoadBalancerClass != nil, "loadBalancerClass")
	return problems
}

func validateTrafficPolicies(spec *corev1.ServiceSpec, at *field.Path) (problems field.ErrorList) {
	external := at.Child("externalTrafficPolicy")
	switch policy := spec.ExternalTrafficPolicy; {
	case defaults.ExternallyAccessible(spec) && !slices.Contains(externalPolicies, policy):
		problems = append(problems, field.NotSupported(external, policy, externalPolicies))
	case !defaults.ExternallyAccessible(spec) && policy != "":
		problems = append(problems, field.Invalid(external, policy, "may only be set for externally-accessible services"))
	}
	if !defaults.NeedsHealthCheck(spec) && spec.HealthCheckNodePort != 0 {
		problems = append(problems, field.Invalid(at.Child("healthCheckNodePort"), spec.HealthCheckNodePort,
			"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	}
	if p := spec.InternalTrafficPolicy; p != nil && !slices.Contains(internalPolicies, *p) {
		problems = append(problems, field.NotSupported(at.Child("internalTrafficPolicy"), *p, internalPolicies))
	}
	if d := spec.TrafficDistribution; d != nil && !slices.Contains(distributions, *d) {
		problems = append(problems, field.NotSupported(at.Child("trafficDistribution"), *d, distributions))
	}
	return problems
}
