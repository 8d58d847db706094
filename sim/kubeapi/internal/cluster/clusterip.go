package cluster

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// clusterIPs records which Service has which address. A claim is valid while its Service is stored
// with the address or is being created, so a deleted Service needs no release. A client may ask for
// any address, also outside of the network below: a dump of another cluster has its own addresses.
type clusterIPs struct {
	mu     sync.Mutex
	given  uint32
	claims map[string]*claim
}

type claim struct {
	key      string // key of the service
	creating int    // number of requests that are about to store the service
}

// next returns the next free address of 10.96.0.0/12, the default service network of Kubernetes.
// Nothing listens there.
func (ips *clusterIPs) next(services *store.Collection, key string) string {
	const network, size = 10<<24 | 96<<16, 1 << 20
	ips.mu.Lock()
	defer ips.mu.Unlock()
	for {
		ips.given++
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], network+1+ips.given%(size-2))
		ip := netip.AddrFrom4(b).String()
		if ips.claim(services, ip, key) {
			return ip
		}
	}
}

func (s *State) NewClusterIP(namespace, name string) string {
	return s.clusterIPs.next(s.services, object.Key(namespace, name))
}

// claim claims the address for key; it returns false if another Service has it. The caller holds
// mu.
func (ips *clusterIPs) claim(services *store.Collection, ip, key string) bool {
	if c := ips.claims[ip]; c != nil && c.key != key {
		if c.creating > 0 || holdsIP(services, c.key, ip) {
			return false
		}
	}
	if ips.claims == nil {
		ips.claims = map[string]*claim{}
	}
	if c := ips.claims[ip]; c == nil || c.key != key {
		ips.claims[ip] = &claim{key: key}
	}
	return true
}

func holdsIP(c *store.Collection, key, ip string) bool {
	o := c.Get(key)
	return o != nil && o.Fields["spec.clusterIP"] == ip
}

// claimClusterIP refuses a new Service if another one has its address. The claim is valid until
// release, and afterwards if the Service has been stored.
func (s *State) claimClusterIP(op *Operation, obj runtime.Object) (release func(), err error) {
	svc, ok := obj.(*corev1.Service)
	if !ok || svc.Spec.ClusterIP == "" || svc.Spec.ClusterIP == corev1.ClusterIPNone {
		return func() {}, nil
	}
	ip, ips := svc.Spec.ClusterIP, &s.clusterIPs
	services, key := s.services, object.Key(svc.Namespace, svc.Name)
	ips.mu.Lock()
	defer ips.mu.Unlock()
	if !ips.claim(services, ip, key) {
		return nil, op.Resource.Invalid(svc.Name, field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), svc.Spec.ClusterIPs,
			fmt.Sprintf("failed to allocate IP %s: provided IP is already allocated", ip))})
	}
	c := ips.claims[ip]
	c.creating++
	return func() {
		ips.mu.Lock()
		defer ips.mu.Unlock()
		c.creating--
	}, nil
}
