package cluster

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// claims records the owners of values that only one Service may have: cluster IPs or node ports. A
// claim is valid while its Service is stored with the value or is being written, so a deleted Service
// needs no release.
type claims[T comparable] struct {
	holds func(key string, value T) bool // reports whether the stored Service has the value

	mu     sync.Mutex
	given  uint32 // number of values that next has tried
	claims map[T]*claim
}

type claim struct {
	key     string // key of the Service
	writing int    // number of requests that are about to store the Service
}

// next claims the next free value for key. candidate returns the nth candidate, from 0; size is the
// number of candidates. It returns false if no value is free.
func (c *claims[T]) next(key string, size uint32, candidate func(n uint32) T) (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range size {
		value = candidate(c.given % size)
		c.given++
		if c.take(value, key) {
			return value, true
		}
	}
	return value, false
}

// take claims a value for key; it returns false if another Service has it. The caller holds mu.
func (c *claims[T]) take(value T, key string) bool {
	if now := c.claims[value]; now != nil && now.key != key && (now.writing > 0 || c.holds(now.key, value)) {
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
