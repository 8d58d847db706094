package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Quotas limit the number of objects in a namespace (plugin ResourceQuota). The server also does the
// work of their controller: it keeps their status. Limits of CPU and memory, and quotas with scopes,
// have no effect.

// plainNames are the names of object counts that are older than those that begin with count/.
var plainNames = []string{"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services"}

const countPrefix = "count/"

// reserveQuota refuses a new object if its namespace has a quota that allows no more of its kind.
// Until release no other object can be created in a namespace with quotas. dryRun reserves nothing.
func (s *State) reserveQuota(op *Operation, obj runtime.Object) (release func(), err error) {
	namespace := object.Accessor(obj).GetNamespace()
	if op.Resource.ClusterScoped || op.Caller == nil || !s.quotas.HasObjectsIn(namespace) {
		return func() {}, nil
	}
	s.quota.Lock()
	adds := amounts(op.Objects.Resource, obj)
	for _, quota := range s.quotasOf(namespace) {
		if err := s.exceeded(op, object.Accessor(obj).GetName(), quota, adds); err != nil {
			s.quota.Unlock()
			return nil, err
		}
	}
	return s.quota.Unlock, nil
}

func (s *State) quotasOf(namespace string) (quotas []*corev1.ResourceQuota) {
	for _, obj := range s.Objects("", "resourcequotas") {
		if quota := obj.(*corev1.ResourceQuota); quota.Namespace == namespace && len(quota.Spec.Scopes) == 0 && quota.Spec.ScopeSelector == nil {
			quotas = append(quotas, quota)
		}
	}
	return quotas
}

// amounts returns what an object adds to each count that quotas can limit.
func amounts(res *resource.Resource, obj runtime.Object) map[corev1.ResourceName]int64 {
	adds := map[corev1.ResourceName]int64{corev1.ResourceName(countPrefix + res.GroupResource().String()): 1}
	if res.Group == "" && slices.Contains(plainNames, res.Name) {
		adds[corev1.ResourceName(res.Name)] = 1
	}
	switch obj := obj.(type) {
	case *corev1.Pod:
		if obj.Status.Phase == corev1.PodSucceeded || obj.Status.Phase == corev1.PodFailed {
			delete(adds, corev1.ResourcePods)
		}
	case *corev1.Service:
		for _, port := range obj.Spec.Ports {
			if port.NodePort != 0 {
				adds[corev1.ResourceServicesNodePorts]++
			}
		}
		if obj.Spec.Type == corev1.ServiceTypeLoadBalancer {
			adds[corev1.ResourceServicesLoadBalancers] = 1
		}
	}
	return adds
}

// used returns how much of a count a namespace has; ok is false for a name that is not a count.
func (s *State) used(namespace string, name corev1.ResourceName) (n int64, ok bool) {
	counted, ok := s.countedBy(name)
	if !ok {
		return 0, false
	}
	stored, _, _ := counted.Snapshot()
	for _, o := range stored {
		if o.Namespace != namespace {
			continue
		}
		if obj, err := o.Decode(); err == nil {
			n += amounts(counted.Resource, obj)[name]
		}
	}
	return n, true
}

// countedBy returns the collection whose objects a count counts.
func (s *State) countedBy(name corev1.ResourceName) (*store.Collection, bool) {
	plain, prefixed := strings.CutPrefix(string(name), countPrefix)
	if strings.HasPrefix(plain, "services.") && !prefixed {
		plain = "services"
	} else if !prefixed && !slices.Contains(plainNames, plain) {
		return nil, false
	}
	for c := range s.EveryCollection() {
		if c.Resource.GroupResource().String() == plain {
			return c, true
		}
	}
	return nil, false
}

// exceeded returns the 403 error of kube-apiserver if the quota does not allow the additions.
func (s *State) exceeded(op *Operation, name string, quota *corev1.ResourceQuota, adds map[corev1.ResourceName]int64) error {
	requested, used, limited := []string{}, []string{}, []string{}
	for _, count := range slices.Sorted(maps.Keys(adds)) {
		hard, limits := quota.Spec.Hard[count]
		if !limits {
			continue
		}
		if has, _ := s.used(quota.Namespace, count); has+adds[count] > hard.Value() {
			requested = append(requested, fmt.Sprintf("%s=%d", count, adds[count]))
			used = append(used, fmt.Sprintf("%s=%d", count, has))
			limited = append(limited, fmt.Sprintf("%s=%s", count, hard.String()))
		}
	}
	if len(requested) == 0 {
		return nil
	}
	return errors.NewForbidden(op.Resource.GroupResource(), name, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
		quota.Name, strings.Join(requested, ","), strings.Join(used, ","), strings.Join(limited, ",")))
}

// syncQuotas writes the status of the quotas in a namespace. An empty name, which cluster-scoped
// objects have, is ignored.
func (s *State) syncQuotas(namespace string) {
	if namespace == "" || !s.quotas.HasObjectsIn(namespace) {
		return
	}
	for _, quota := range s.quotasOf(namespace) {
		for s.syncQuota(object.Key(namespace, quota.Name)) {
		}
	}
}

// syncQuota writes the status of one quota. It returns true if another writer was faster.
func (s *State) syncQuota(key string) (again bool) {
	base := s.quotas.Get(key)
	if base == nil {
		return false
	}
	old, err := base.Decode()
	if err != nil {
		return false
	}
	next := old.DeepCopyObject().(*corev1.ResourceQuota)
	next.Status = corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{}, Used: corev1.ResourceList{}}
	for name, hard := range next.Spec.Hard {
		if n, ok := s.used(next.Namespace, name); ok {
			next.Status.Hard[name], next.Status.Used[name] = hard, *quantity.NewQuantity(n, quantity.DecimalSI)
		}
	}
	if equality.Semantic.DeepEqual(next.Status, old.(*corev1.ResourceQuota).Status) {
		return false
	}
	t, err := prepareUpdate(s.quotas, s.quotas.Resource, base, old, next, false)
	if err == nil && t.Kind != "" {
		_, err = s.quotas.Commit(t)
	}
	return store.IsConflict(err)
}
