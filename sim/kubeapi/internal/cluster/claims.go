package cluster

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/kinds/defaults"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// claims records the owners of values that only one Service may have: cluster IPs or node ports. A
// claim is valid while an operation holds it, and while its Service is stored with the value. So a
// deleted Service needs no release.
type claims[T comparable] struct {
	services *store.Collection
	has      func(service *store.Object, value T) bool
	value    func(n uint32) T // returns the value with a number

	mu     sync.Mutex
	bands  []band // next tries a band only if all values of those before it are taken
	claims map[T]*claim
}

// band is a range of numbers. tried counts those that next has tried: it tries them in turns, so that
// it finds a free one soon.
type band struct{ first, size, tried uint32 }

type claim struct {
	key     string        // key of the Service
	writing int           // number of operations that hold the claim
	seen    *store.Object // a stored state of the Service that has the value; nil if none is known
}

// next claims the next free value, other than those in except, for a Service that op is about to
// store. It returns the zero value if no value is free.
func (c *claims[T]) next(op *Operation, key string, except ...T) (none T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.bands {
		b := &c.bands[i]
		for range b.size {
			value := c.value(b.first + b.tried%b.size)
			b.tried++
			if c.owner(value) == nil && !slices.Contains(except, value) {
				c.claim(op, value, key)
				return value
			}
		}
	}
	return none
}

// hold claims a value for a Service that op is about to store. It returns false if another Service has
// the value.
func (c *claims[T]) hold(op *Operation, value T, key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if owner := c.owner(value); owner != nil && owner.key != key {
		return false
	}
	c.claim(op, value, key)
	return true
}

// claim claims a value that is free or belongs to key, until op is released. The caller holds mu.
func (c *claims[T]) claim(op *Operation, value T, key string) {
	if op.dryRun {
		return
	}
	now := c.claims[value]
	if now == nil || now.key != key {
		now = &claim{key: key}
		c.claims[value] = now
	}
	now.writing++
	op.held = append(op.held, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		now.writing--
	})
}

// owner returns the valid claim of a value, or nil. The caller holds mu.
func (c *claims[T]) owner(value T) *claim {
	now := c.claims[value]
	if now == nil || now.writing > 0 {
		return now
	}
	service := c.services.Get(now.key)
	if service == nil {
		return nil
	}
	if service != now.seen { // has may decode the Service, and a search among few free values asks often
		if !c.has(service, value) {
			return nil
		}
		now.seen = service
	}
	return now
}

// serviceOf returns the Service that an operation writes, or nil.
func serviceOf(op *Operation, obj runtime.Object) *corev1.Service {
	if svc, ok := obj.(*corev1.Service); ok && op.Subresource == "" {
		return svc
	}
	return nil
}

// assign gives obj, if it is a Service, the cluster IP and the node ports that it needs and does not
// name. op holds them. old is nil for a new Service.
func (s *State) assign(op *Operation, obj, old runtime.Object) {
	if svc := serviceOf(op, obj); svc != nil {
		before, _ := old.(*corev1.Service)
		defaults.AssignService(svc, before, allocator{s, op})
	}
}

// allocator gives new values to the Service that op writes.
type allocator struct {
	s  *State
	op *Operation
}

func (a allocator) NewClusterIP(svc *corev1.Service) string {
	return a.s.clusterIPs.next(a.op, object.Key(svc.Namespace, svc.Name))
}

func (a allocator) NewNodePort(svc *corev1.Service) int32 {
	return a.s.nodePorts.next(a.op, object.Key(svc.Namespace, svc.Name), nodePortsOf(svc)...)
}

// reserve claims the cluster IP and the node ports of obj, if it is a Service, or returns the error for
// those that it cannot have. op holds them. old is nil for a new Service.
func (s *State) reserve(op *Operation, obj, old runtime.Object) error {
	svc := serviceOf(op, obj)
	if svc == nil {
		return nil
	}
	before, _ := old.(*corev1.Service)
	key := object.Key(svc.Namespace, svc.Name)
	if err := s.reserveClusterIP(op, svc, before, key); err != nil {
		return err
	}
	return s.reserveNodePorts(op, svc, before, key)
}
