package defaults

import corev1 "k8s.io/api/core/v1"

// NeedsNodePorts reports whether every port of a Service gets a node port.
func NeedsNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort ||
		spec.Type == corev1.ServiceTypeLoadBalancer && (spec.AllocateLoadBalancerNodePorts == nil || *spec.AllocateLoadBalancerNodePorts)
}

// NeedsHealthCheck reports whether a Service gets a node port for the health checks of a load
// balancer, which must find the nodes that have endpoints.
func NeedsHealthCheck(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// hasNodePorts reports whether a Service may have node ports.
func hasNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
}

// assignNodePorts gives a Service the node ports that it needs and does not name: those of its old
// state, or new ones.
func assignNodePorts(svc, old *corev1.Service, from Allocator) {
	spec := &svc.Spec
	if old != nil {
		keepNodePorts(spec, &old.Spec)
	}
	if NeedsHealthCheck(spec) && spec.HealthCheckNodePort == 0 {
		spec.HealthCheckNodePort = from.NewNodePort(svc)
	}
	if !NeedsNodePorts(spec) {
		return
	}
	shared := map[int32]int32{} // node port by port: ports of different protocols share it
	if old == nil {
		for _, port := range spec.Ports {
			if port.NodePort != 0 && shared[port.Port] == 0 {
				shared[port.Port] = port.NodePort
			}
		}
	}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		if port.NodePort == 0 {
			port.NodePort = shared[port.Port]
		}
		if port.NodePort == 0 {
			port.NodePort = from.NewNodePort(svc)
		}
		if old == nil {
			shared[port.Port] = port.NodePort
		}
	}
}

// keepNodePorts gives the ports of an update that names no node ports those of the old ports with
// the same names.
func keepNodePorts(spec, old *corev1.ServiceSpec) {
	if NeedsHealthCheck(spec) && NeedsHealthCheck(old) && spec.HealthCheckNodePort == 0 {
		spec.HealthCheckNodePort = old.HealthCheckNodePort
	}
	if !NeedsNodePorts(spec) || !NeedsNodePorts(old) {
		return
	}
	used, had := map[int32]bool{}, map[string]int32{}
	for _, port := range spec.Ports {
		used[port.NodePort] = true
	}
	for _, port := range old.Ports {
		had[port.Name] = port.NodePort
	}
	for i := range spec.Ports {
		if port := &spec.Ports[i]; port.NodePort == 0 && !used[had[port.Name]] {
			port.NodePort = had[port.Name]
		}
	}
}

// onlyOldNodePorts reports whether the update adds no node port.
func onlyOldNodePorts(spec, old *corev1.ServiceSpec) bool {
	had := map[int32]bool{0: true}
	for _, port := range old.Ports {
		had[port.NodePort] = true
	}
	for _, port := range spec.Ports {
		if !had[port.NodePort] {
			return false
		}
	}
	return true
}
