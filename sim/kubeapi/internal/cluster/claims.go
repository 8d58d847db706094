package cluster

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// claims records the owners of values that only one Service may have: cluster IPs or node ports. A
// claim is valid while its Service is stored with the value or is being written, so a deleted Service
// needs no release.
type claims[T comparable] struct {
	services *store.Collection
	has      func(service *store.Object, value T) bool
	value    func(n uint32) T // returns the value with a number

	mu     sync.Mutex
	bands  []band // next tries a band only if all values of those before it are taken
	claims map[T]*claim
}

// band is a range of numbers. tried counts those that next has tried: it tries them in turns, so that
// requests at the same time get different values.
type band struct{ first, size, tried uint32 }

type claim struct {
	key     string // key of the Service
	writing int    // number of requests that are about to store the Service
	seen    uint64 // a version of the Service that has the value; 0 if none is known
}

// next claims the next free value for key, other than those in except. It returns the zero value if
// no value is free.
func (c *claims[T]) next(key string, except ...T) (none T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.bands {
		b := &c.bands[i]
		for range b.size {
			value := c.value(b.first + b.tried%b.size)
			b.tried++
			if !slices.Contains(except, value) && c.take(value, key) {
				return value
			}
		}
	}
	return none
}

// take claims a value for key; it returns false if another Service has it. The caller holds mu.
func (c *claims[T]) take(value T, key string) bool {
	if now := c.claims[value]; now != nil && now.key != key && (now.writing > 0 || c.isStored(now, value)) {
		return false
	}
	if c.claims == nil {
		c.claims = map[T]*claim{}
	}
	if now := c.claims[value]; now == nil || now.key != key {
		c.claims[value] = &claim{key: key}
	}
	return true
}

// isStored reports whether the Service of a claim is stored with the value. Decoding a Service costs
// much more than this answer, and a search for the last free values asks for it very often.
func (c *claims[T]) isStored(now *claim, value T) bool {
	service := c.services.Get(now.key)
	if service == nil {
		return false
	}
	if now.seen != service.Version {
		if !c.has(service, value) {
			return false
		}
		now.seen = service.Version
	}
	return true
}

// hold claims a value for a Service that is about to be stored. The claim is valid until release,
// and afterwards if the Service has been stored. ok is false if another Service has the value.
func (c *claims[T]) hold(value T, key string) (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.take(value, key) {
		return nil, false
	}
	held := c.claims[value]
	held.writing++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		held.writing--
	}, true
}

// reserve claims the cluster IP and the node ports of obj, if it is a Service. The claims are valid
// until release, and afterwards if the Service has been stored. old is nil for a new Service.
func (s *State) reserve(op *Operation, obj, old runtime.Object) (release func(), err error) {
	svc, ok := obj.(*corev1.Service)
	if !ok || op.Subresource != "" {
		return func() {}, nil
	}
	before, _ := old.(*corev1.Service)
	key := object.Key(svc.Namespace, svc.Name)
	var all []func()
	release = func() {
		for _, one := range all {
			one()
		}
	}
	for _, claim := range []func(op *Operation, svc, old *corev1.Service, key string) ([]func(), error){s.reserveClusterIP, s.reserveNodePorts} {
		held, err := claim(op, svc, before, key)
		all = append(all, held...)
		if err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}
