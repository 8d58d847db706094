package cluster

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/store"
)

// A client may ask for any address, also outside of the service network: a dump of another cluster
// has its own addresses.

// serviceNetwork is 10.96.0.0/12, the default service network of Kubernetes. Nothing listens there.
const serviceNetwork, sizeOfServiceNetwork = 10<<24 | 96<<16, 1 << 20

// newClusterIPs returns claims of addresses in the service network. ServerIP, the first address, comes
// last.
func newClusterIPs(services *store.Collection) claims[string] {
	return claims[string]{services: services, has: hasClusterIP, value: ipv4, claims: map[string]*claim{},
		bands: []band{{first: serviceNetwork + 2, size: sizeOfServiceNetwork - 3}, {first: serviceNetwork + 1, size: 1}}}
}

func ipv4(n uint32) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b).String()
}

func hasClusterIP(service *store.Object, ip string) bool {
	return service.Fields["spec.clusterIP"] == ip
}

// reserveClusterIP refuses a Service if another one has its address. The address of a stored
// Service does not change.
func (s *State) reserveClusterIP(op *Operation, svc, old *corev1.Service, key string) error {
	ip := svc.Spec.ClusterIP
	if ip == "" || ip == corev1.ClusterIPNone || old != nil && old.Spec.ClusterIP == ip || s.clusterIPs.hold(op, ip, key) {
		return nil
	}
	return op.Resource.Invalid(svc.Name, field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), svc.Spec.ClusterIPs,
		fmt.Sprintf("failed to allocate IP %s: provided IP is already allocated", ip))})
}
