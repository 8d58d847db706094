package controllers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/net"
	"k8s.io/utils/ptr"
)

// endpointSet holds the endpoints, by pod, that may share slices: they have the same address family
// and the same port numbers.
type endpointSet struct {
	family    discoveryv1.AddressType
	ports     []discoveryv1.EndpointPort
	endpoints map[string]discoveryv1.Endpoint
	uses      map[string]bool // the slices that contain them
}

// endpointsOf returns the wanted content of a service's slices. A service without endpoints gets
// one empty set for each of its address families.
func (e *endpointSlice) endpointsOf(svc *corev1.Service) ([]endpointSet, error) {
	pods, err := e.pods.Pods(svc.Namespace).List(labels.SelectorFromValidatedSet(svc.Spec.Selector))
	if err != nil {
		return nil, err
	}
	families := svc.Spec.IPFamilies
	if len(families) == 0 {
		families = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	var all []endpointSet
	for _, family := range families {
		sets := map[string]*endpointSet{}
		for _, pod := range pods {
			address := addressOf(pod, family)
			if address == "" || isOver(pod) {
				continue
			}
			ports := portsOf(svc, pod)
			key := portsKey(ports)
			if sets[key] == nil {
				sets[key] = &endpointSet{family: discoveryv1.AddressType(family), ports: ports, endpoints: map[string]discoveryv1.Endpoint{}}
			}
			sets[key].endpoints[pod.Name] = e.endpoint(svc, pod, address)
		}
		if len(sets) == 0 {
			sets[""] = &endpointSet{family: discoveryv1.AddressType(family)}
		}
		for _, set := range sets {
			all = append(all, *set)
		}
	}
	slices.SortFunc(all, func(a, b endpointSet) int { return strings.Compare(portsKey(a.ports), portsKey(b.ports)) })
	return all, nil
}

func addressOf(pod *corev1.Pod, family corev1.IPFamily) string {
	for _, ip := range pod.Status.PodIPs {
		if net.IsIPv6String(ip.IP) == (family == corev1.IPv6Protocol) {
			return ip.IP
		}
	}
	return ""
}

// portsOf returns a service's ports with the numbers that they have on a pod. It leaves out named
// target ports that the pod does not have.
func portsOf(svc *corev1.Service, pod *corev1.Pod) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for i := range svc.Spec.Ports {
		port := svc.Spec.Ports[i]
		number, ok := numberOf(port, pod)
		if !ok {
			continue
		}
		ports = append(ports, discoveryv1.EndpointPort{Name: &port.Name, Port: &number, Protocol: &port.Protocol, AppProtocol: port.AppProtocol})
	}
	return ports
}

func numberOf(port corev1.ServicePort, pod *corev1.Pod) (int32, bool) {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal, true
	}
	for i := range pod.Spec.Containers {
		if number, ok := namedPort(&pod.Spec.Containers[i], port); ok {
			return number, true
		}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways {
			continue // not a sidecar: it ends before the pod is ready
		}
		if number, ok := namedPort(c, port); ok {
			return number, true
		}
	}
	return 0, false
}

// namedPort returns the number of a service's named target port on a container.
func namedPort(container *corev1.Container, port corev1.ServicePort) (int32, bool) {
	for _, p := range container.Ports {
		if p.Name == port.TargetPort.StrVal && p.Protocol == port.Protocol {
			return p.ContainerPort, true
		}
	}
	return 0, false
}

func portsKey(ports []discoveryv1.EndpointPort) string {
	var key strings.Builder
	for _, p := range ports {
		fmt.Fprintf(&key, "%s %d/%s,", *p.Name, *p.Port, *p.Protocol)
	}
	return key.String()
}

// endpoint returns the endpoint of a pod. A terminating pod still serves as long as it is ready.
func (e *endpointSlice) endpoint(svc *corev1.Service, pod *corev1.Pod, address string) discoveryv1.Endpoint {
	serving, terminating := isReady(pod), pod.DeletionTimestamp != nil
	ready := svc.Spec.PublishNotReadyAddresses || (serving && !terminating)
	endpoint := discoveryv1.Endpoint{
		Addresses:  []string{address},
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
	}
	if pod.Spec.Hostname != "" && pod.Spec.Subdomain == svc.Name {
		endpoint.Hostname = &pod.Spec.Hostname
	}
	if pod.Spec.NodeName == "" {
		return endpoint
	}
	endpoint.NodeName = &pod.Spec.NodeName
	if node, err := e.nodes.Get(pod.Spec.NodeName); err == nil { // without the node, the zone stays unknown
		if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" {
			endpoint.Zone = &zone
		}
	}
	return endpoint
}
