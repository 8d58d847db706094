// Package defaults fills in the fields that a client leaves out of an object of a built-in kind,
// and sets the fields that only the server decides. It stands between a decoded request and the
// validation of the object. Its one rule: it changes the object that it gets and never refuses it.
//
// The functions that have the name of a kind set the fields that a client may leave out. Those that
// begin with Prepare set the fields that only the server decides. Both take an object and the one that
// it replaces, which is nil for a new one.
package defaults

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// The defaults of kube-apiserver (pkg/apis/<group>/<version>/defaults.go) that matter to ingress
// controllers and kubectl.

func Namespace(ns, _ *corev1.Namespace) {
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

// PrepareNamespace keeps spec.finalizers of an existing namespace, because only the finalize
// subresource changes them. A new namespace gets the finalizer "kubernetes".
func PrepareNamespace(ns, old *corev1.Namespace, _ resource.Cluster) {
	switch {
	case old != nil:
		ns.Spec.Finalizers = old.Spec.Finalizers
		return
	case !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes):
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	ns.Status.Phase = corev1.NamespaceActive
}

// Secret sets the defaults of a secret, and moves the write-only stringData into data.
func Secret(secret, _ *corev1.Secret) {
	setDefault(&secret.Type, corev1.SecretTypeOpaque)
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

func Service(svc, _ *corev1.Service) {
	spec := &svc.Spec
	setDefault(&spec.Type, corev1.ServiceTypeClusterIP)
	setDefault(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	defaultAffinity(spec)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		setDefault(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if ExternallyAccessible(spec) {
		setDefault(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.InternalTrafficPolicy == nil && spec.Type != corev1.ServiceTypeExternalName {
		spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		for i := range svc.Status.LoadBalancer.Ingress {
			if ingress := &svc.Status.LoadBalancer.Ingress[i]; ingress.IP != "" {
				setPointer(&ingress.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
	if spec.AllocateLoadBalancerNodePorts == nil && spec.Type == corev1.ServiceTypeLoadBalancer {
		spec.AllocateLoadBalancerNodePorts = new(true)
	}
}

func defaultAffinity(spec *corev1.ServiceSpec) {
	config := spec.SessionAffinityConfig
	switch {
	case spec.SessionAffinity == corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case spec.SessionAffinity != corev1.ServiceAffinityClientIP:
	case config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil:
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
			ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)}}
	}
}

// PrepareService clears the fields that do not fit the type of a service. AssignService follows it.
func PrepareService(svc, old *corev1.Service, _ resource.Cluster) {
	if old != nil {
		dropForeign(&svc.Spec, &old.Spec)
		if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
			svc.Status.LoadBalancer = corev1.LoadBalancerStatus{}
		}
	}
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		svc.Spec.InternalTrafficPolicy = nil // kube-apiserver does not show it
	}
}

// Allocator returns values that no Service has, and claims them for the Service.
type Allocator interface {
	NewClusterIP(svc *corev1.Service) string
	NewNodePort(svc *corev1.Service) int32 // 0 if all are taken
}

// AssignService gives a service its cluster IP and node ports: those of its old state, or new ones.
func AssignService(svc, old *corev1.Service, from Allocator) {
	assignNodePorts(svc, old, from)
	assignClusterIP(svc, old, from)
}

func assignClusterIP(svc, old *corev1.Service, from Allocator) {
	spec := &svc.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		if spec.ClusterIP != "" {
			spec.ClusterIPs = []string{spec.ClusterIP}
		}
		return
	}
	if old == nil && len(spec.ClusterIPs) > 0 && spec.ClusterIPs[0] != spec.ClusterIP {
		return // validation refuses it
	}
	if spec.ClusterIP == "" && old != nil && old.Spec.Type != corev1.ServiceTypeExternalName {
		spec.ClusterIP, spec.ClusterIPs = old.Spec.ClusterIP, old.Spec.ClusterIPs
	}
	if spec.ClusterIP == "" {
		spec.ClusterIP = from.NewClusterIP(svc)
	}
	spec.ClusterIPs = []string{spec.ClusterIP}
	prepareFamilies(spec, old)
}

// prepareFamilies chooses the IP families of a service if the client did not: the family of this
// cluster, or both families for a headless service without a selector.
func prepareFamilies(spec *corev1.ServiceSpec, old *corev1.Service) {
	if spec.IPFamilies == nil && old != nil {
		spec.IPFamilies = old.Spec.IPFamilies
	}
	if spec.IPFamilyPolicy == nil && old != nil {
		spec.IPFamilyPolicy = old.Spec.IPFamilyPolicy
	}
	if foreign := Headless(spec) && len(spec.Selector) == 0; foreign && spec.IPFamilies == nil {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
		setPointer(&spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
	}
	if spec.IPFamilies == nil {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	setPointer(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
}

// dropForeign clears the fields that are only valid for the old type of a service and that the
// update did not change.
func dropForeign(spec, old *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName && old.Type != corev1.ServiceTypeExternalName && spec.ClusterIP == old.ClusterIP {
		spec.ClusterIP, spec.ClusterIPs, spec.IPFamilies, spec.IPFamilyPolicy = "", nil, nil, nil
	}
	if hasNodePorts(old) && !hasNodePorts(spec) && onlyOldNodePorts(spec, old) {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
	if NeedsHealthCheck(old) && !NeedsHealthCheck(spec) && spec.HealthCheckNodePort == old.HealthCheckNodePort {
		spec.HealthCheckNodePort = 0
	}
	if ExternallyAccessible(old) && !ExternallyAccessible(spec) && spec.ExternalTrafficPolicy == old.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer && old.Type == corev1.ServiceTypeLoadBalancer {
		spec.AllocateLoadBalancerNodePorts, spec.LoadBalancerClass = nil, nil
	}
}

func Endpoints(ep, _ *corev1.Endpoints) {
	for i := range ep.Subsets {
		for j := range ep.Subsets[i].Ports {
			setDefault(&ep.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

func EndpointSlice(slice, _ *discoveryv1.EndpointSlice) {
	for i := range slice.Ports {
		port := &slice.Ports[i]
		if port.Name == nil {
			port.Name = new("")
		}
		if port.Protocol == nil {
			tcp := corev1.ProtocolTCP
			port.Protocol = &tcp
		}
	}
}

// PrepareEndpointSlice turns empty lists into nil lists, which is how they are stored. It runs
// after the field owners are recorded, so the client still owns the empty lists that it sent.
func PrepareEndpointSlice(slice, _ *discoveryv1.EndpointSlice, _ resource.Cluster) {
	if len(slice.Endpoints) == 0 {
		slice.Endpoints = nil
	}
	if len(slice.Ports) == 0 {
		slice.Ports = nil
	}
}

func setDefault[T comparable](field *T, value T) {
	var unset T
	if *field == unset {
		*field = value
	}
}

func Headless(spec *corev1.ServiceSpec) bool {
	return len(spec.ClusterIPs) == 1 && spec.ClusterIPs[0] == corev1.ClusterIPNone
}

func ExternallyAccessible(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort ||
		(spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0)
}
