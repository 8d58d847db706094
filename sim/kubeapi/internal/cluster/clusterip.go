package cluster

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// A client may ask for any address, also outside of the network of NewClusterIP: a dump of another
// cluster has its own addresses.

// NewClusterIP claims the next free address of 10.96.0.0/12, the default service network of
// Kubernetes. Nothing listens there. It begins with 10.96.0.2; ServerIP comes last.
func (s *State) NewClusterIP(namespace, name string) string {
	const network, size = 10<<24 | 96<<16, 1<<20 - 2
	ip, _ := s.clusterIPs.next(object.Key(namespace, name), size, func(n uint32) string {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], network+1+(n+1)%size)
		return netip.AddrFrom4(b).String()
	})
	return ip
}

func (s *State) holdsClusterIP(key, ip string) bool {
	o := s.services.Get(key)
	return o != nil && o.Fields["spec.clusterIP"] == ip
}

// reserveClusterIP refuses a Service if another one has its address. The address of a stored
// Service does not change.
func (s *State) reserveClusterIP(op *Operation, svc, old *corev1.Service, key string) ([]func(), error) {
	ip := svc.Spec.ClusterIP
	if ip == "" || ip == corev1.ClusterIPNone || old != nil && old.Spec.ClusterIP == ip {
		return nil, nil
	}
	release, ok := s.clusterIPs.hold(ip, key)
	if !ok {
		return nil, op.Resource.Invalid(svc.Name, field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), svc.Spec.ClusterIPs,
			fmt.Sprintf("failed to allocate IP %s: provided IP is already allocated", ip))})
	}
	return []func(){release}, nil
}
