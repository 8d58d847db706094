package imported

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/corpus"
)

// backends returns the services with endpoints, whose pods are simulated. Each service gets its own
// pods, even if it shares pods with another service in the cluster. So an answer shows which
// service the controller has chosen.
func (c *cluster) backends() map[key]*corpus.Service {
	names := corpus.NewNames(rand.New(rand.NewPCG(c.Seed, 0)))
	all := map[key]*corpus.Service{}
	for _, at := range slices.SortedFunc(maps.Keys(c.services), compare) {
		if c.services[at].Spec.Type == corev1.ServiceTypeExternalName {
			continue
		}
		if s := c.backend(at, names); s != nil {
			all[at] = s
		}
	}
	return all
}

// backend returns a service with its pods, or nil if it has no endpoints.
func (c *cluster) backend(at key, names *corpus.Names) *corpus.Service {
	made := corpus.Service{Namespace: at.Namespace, Name: at.Name, Port: corpus.DefaultPort, Imported: &corpus.Imported{Service: c.services[at].DeepCopy()}}
	own := c.ofOneFamily(at)
	made.Imported.Ports = portsOf(own)
	seen := map[string]bool{}
	for _, slice := range own {
		for _, endpoint := range slice.Endpoints {
			if len(endpoint.Addresses) == 0 || seen[endpoint.Addresses[0]] {
				continue
			}
			seen[endpoint.Addresses[0]] = true
			pod := names.Pod(at.Name)
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				made.Pods = append(made.Pods, pod)
			} else {
				made.Imported.Unready = append(made.Imported.Unready, pod)
			}
		}
	}
	if len(seen) == 0 || len(made.Imported.Ports) == 0 {
		return nil
	}
	leadToPods(made.Imported)
	return &made
}

// ofOneFamily returns the EndpointSlices of a service with IPv4 addresses, or those with IPv6
// addresses if there are no others. The slices of a service with both families have the same pods.
func (c *cluster) ofOneFamily(of key) []*discoveryv1.EndpointSlice {
	sorted := slices.SortedFunc(slices.Values(c.slices[of]), func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	for _, family := range []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6} {
		found := slices.DeleteFunc(slices.Clone(sorted), func(s *discoveryv1.EndpointSlice) bool { return s.AddressType != family || len(s.Endpoints) == 0 })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// portsOf returns the ports of all slices by name. Simulated pods listen on ports of their own, from
// corpus.DefaultPort: those of the cluster may be in use on this machine, or need root.
func portsOf(all []*discoveryv1.EndpointSlice) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for _, slice := range all {
		for _, port := range slice.Ports {
			name := nameOfPort(port)
			if slices.ContainsFunc(ports, func(p discoveryv1.EndpointPort) bool { return *p.Name == name }) {
				continue
			}
			protocol := corev1.ProtocolTCP
			if port.Protocol != nil {
				protocol = *port.Protocol
			}
			ports = append(ports, discoveryv1.EndpointPort{
				Name: &name, Port: new(int32(corpus.DefaultPort + len(ports))), Protocol: &protocol, AppProtocol: port.AppProtocol,
			})
		}
	}
	return ports
}

func nameOfPort(port discoveryv1.EndpointPort) string {
	if port.Name == nil {
		return ""
	}
	return *port.Name
}

// leadToPods makes the numbered ports of a service lead to the ports of its simulated pods.
func leadToPods(i *corpus.Imported) {
	for n := range i.Service.Spec.Ports {
		port := &i.Service.Spec.Ports[n]
		if to := endpointPort(i, port.Name); to != nil && port.TargetPort.Type == intstr.Int {
			port.TargetPort = intstr.FromInt32(*to.Port)
		}
	}
}

// endpointPort returns the port of the pods for a port of the service, or nil if there is none.
func endpointPort(i *corpus.Imported, name string) *discoveryv1.EndpointPort {
	n := slices.IndexFunc(i.Ports, func(p discoveryv1.EndpointPort) bool { return *p.Name == name })
	if n < 0 {
		return nil
	}
	return &i.Ports[n]
}
