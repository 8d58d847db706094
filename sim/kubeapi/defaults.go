package kubeapi

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What kube-apiserver fills in (pkg/apis/<group>/<version>/defaults.go), as far as
// ingress controllers and kubectl look at it.

func defaultNamespace(ns, _ *corev1.Namespace, _ *Server) {
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

// prepareNamespace leaves a namespace's own finalizers to the finalize subresource.
func prepareNamespace(ns, old *corev1.Namespace, _ *Server) {
	if old != nil {
		ns.Spec.Finalizers = old.Spec.Finalizers
		return
	}
	ns.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	ns.Status.Phase = corev1.NamespaceActive
}

func defaultPod(pod, _ *corev1.Pod, _ *Server) { defaultPodSpec(&pod.Spec) }

func preparePod(pod, old *corev1.Pod, _ *Server) {
	if old == nil {
		pod.Status.Phase = corev1.PodPending
	}
}

// defaultSecret also moves stringData, which is for writing only, into data.
func defaultSecret(secret, _ *corev1.Secret, _ *Server) {
	setDefault(&secret.Type, corev1.SecretTypeOpaque)
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

func defaultService(svc, _ *corev1.Service, _ *Server) {
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
	if externallyAccessible(spec) {
		setDefault(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.InternalTrafficPolicy == nil && spec.Type != corev1.ServiceTypeExternalName {
		spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
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

// prepareService gives a service its address, or that of its old state.
func prepareService(svc, old *corev1.Service, s *Server) {
	spec := &svc.Spec
	if old != nil && spec.Type != old.Spec.Type {
		dropForeign(spec, &old.Spec)
	}
	if spec.Type == corev1.ServiceTypeExternalName {
		if spec.ClusterIP != "" {
			spec.ClusterIPs = []string{spec.ClusterIP}
		}
		return
	}
	if spec.ClusterIP == "" && old != nil && old.Spec.Type != corev1.ServiceTypeExternalName {
		spec.ClusterIP, spec.ClusterIPs = old.Spec.ClusterIP, old.Spec.ClusterIPs
	}
	if spec.ClusterIP == "" {
		spec.ClusterIP = s.clusterIPs.next(s.services, keyOf(svc.Namespace, svc.Name))
	}
	spec.ClusterIPs = []string{spec.ClusterIP}
	if spec.IPFamilies == nil && spec.ClusterIP != corev1.ClusterIPNone {
		single := corev1.IPFamilyPolicySingleStack
		spec.IPFamilies, spec.IPFamilyPolicy = []corev1.IPFamily{corev1.IPv4Protocol}, &single
	}
}

// dropForeign takes away what only the type that a service had can have, and that
// its change did not touch.
func dropForeign(spec, old *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName && spec.ClusterIP == old.ClusterIP {
		spec.ClusterIP, spec.ClusterIPs, spec.IPFamilies, spec.IPFamilyPolicy = "", nil, nil, nil
	}
	if !externallyAccessible(spec) && spec.ExternalTrafficPolicy == old.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		spec.AllocateLoadBalancerNodePorts, spec.LoadBalancerClass = nil, nil
	}
	if spec.Type == corev1.ServiceTypeClusterIP {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
}

func defaultEndpoints(ep, _ *corev1.Endpoints, _ *Server) {
	for i := range ep.Subsets {
		for j := range ep.Subsets[i].Ports {
			setDefault(&ep.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

func defaultEndpointSlice(slice, _ *discoveryv1.EndpointSlice, _ *Server) {
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

func setDefault[T comparable](field *T, value T) {
	var unset T
	if *field == unset {
		*field = value
	}
}
