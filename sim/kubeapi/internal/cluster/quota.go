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
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Quotas limit the number of objects in a namespace, and the CPU, memory and storage that they request
// (plugin ResourceQuota). The server also does the work of their controller: it maintains their status.

// reserveQuota refuses a new object, or a change of old, if a quota of its namespace does not allow
// the increase. Until release, no other write that increases usage is possible in a namespace with
// quotas.
func (s *State) reserveQuota(op *Operation, obj, old runtime.Object) (release func(), err error) {
	namespace := object.Accessor(obj).GetNamespace()
	if op.Resource.ClusterScoped || op.Caller == nil || !s.quotas.HasObjectsIn(namespace) || op.Subresource == "status" {
		return func() {}, nil
	}
	s.quota.Lock()
	for _, quota := range s.quotasOf(namespace) {
		if err := s.exceeded(op, quota, obj, old); err != nil {
			s.quota.Unlock()
			return nil, errors.NewForbidden(op.Resource.GroupResource(), object.Accessor(obj).GetName(), err)
		}
	}
	return s.quota.Unlock, nil
}

func (s *State) quotasOf(namespace string) (quotas []*corev1.ResourceQuota) {
	for _, obj := range s.Objects("", "resourcequotas") {
		if quota := obj.(*corev1.ResourceQuota); quota.Namespace == namespace {
			quotas = append(quotas, quota)
		}
	}
	return quotas
}

// exceeded returns the error of kube-apiserver if a quota does not allow an object in place of old.
func (s *State) exceeded(op *Operation, quota *corev1.ResourceQuota, obj, old runtime.Object) error {
	if !inScope(quota, obj) {
		return nil
	}
	if pod, is := obj.(*corev1.Pod); is && old == nil {
		if missing := notGiven(pod, quota.Spec.Hard); missing != "" {
			return fmt.Errorf("failed quota: %s: must specify %s", quota.Name, missing)
		}
	}
	more := amounts(op.Objects.Resource, obj)
	if old != nil && inScope(quota, old) {
		for name, had := range amounts(op.Objects.Resource, old) {
			amount := more[name]
			amount.Sub(had)
			more[name] = amount
		}
	}
	maps.DeleteFunc(more, func(name corev1.ResourceName, amount quantity.Quantity) bool {
		_, limited := quota.Spec.Hard[name]
		return !limited || amount.Sign() <= 0
	})
	if len(more) == 0 {
		return nil
	}
	has := s.used(quota)
	var requested, used, limited []string
	for _, name := range slices.Sorted(maps.Keys(more)) {
		amount, before, hard := more[name], has[name], quota.Spec.Hard[name]
		total := before.DeepCopy()
		total.Add(amount)
		if total.Cmp(hard) > 0 {
			requested = append(requested, fmt.Sprintf("%s=%s", name, amount.String()))
			used = append(used, fmt.Sprintf("%s=%s", name, before.String()))
			limited = append(limited, fmt.Sprintf("%s=%s", name, hard.String()))
		}
	}
	if len(requested) == 0 {
		return nil
	}
	return fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
		quota.Name, strings.Join(requested, ","), strings.Join(used, ","), strings.Join(limited, ","))
}

// notGiven returns the requests and limits that containers of a pod do not specify although a quota
// limits them.
func notGiven(pod *corev1.Pod, hard corev1.ResourceList) string {
	var missing []string
	for _, name := range mandatory {
		if _, limited := hard[name]; !limited {
			continue
		}
		var containers []string
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			if !gives(c.Resources, pod.Spec.Resources, name) {
				containers = append(containers, c.Name)
			}
		}
		if len(containers) > 0 {
			slices.Sort(containers)
			missing = append(missing, fmt.Sprintf("%s for: %s", name, strings.Join(containers, ",")))
		}
	}
	slices.Sort(missing)
	return strings.Join(missing, "; ")
}

// used returns how much the namespace takes of each amount that a quota limits. It omits names that
// limit nothing.
func (s *State) used(quota *corev1.ResourceQuota) corev1.ResourceList {
	used, byKind := corev1.ResourceList{}, map[string][]corev1.ResourceName{}
	for name := range quota.Spec.Hard {
		kind := countedKind(name)
		byKind[kind] = append(byKind[kind], name)
	}
	for collection := range s.EveryCollection() {
		kind := collection.Resource.GroupResource().String()
		names := byKind[kind]
		if kind == "" || len(names) == 0 {
			continue
		}
		delete(byKind, kind)
		for _, name := range names {
			used[name] = quantity.Quantity{Format: quantity.DecimalSI}
		}
		stored, _, _ := collection.Snapshot()
		for _, o := range stored {
			if o.Namespace != quota.Namespace {
				continue
			}
			obj, err := o.Decode()
			if err != nil || !inScope(quota, obj) {
				continue
			}
			takes := amounts(collection.Resource, obj)
			for _, name := range names {
				sum := used[name]
				sum.Add(takes[name])
				used[name] = sum
			}
		}
	}
	return used
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

// syncQuotasAfter calls syncQuotas if an update changed a quota, or the amounts that an object takes.
func (s *State) syncQuotasAfter(op *Operation, old, next runtime.Object) {
	namespace := object.Accessor(next).GetNamespace()
	if namespace == "" || !s.quotas.HasObjectsIn(namespace) {
		return
	}
	ofQuota := op.Objects == s.quotas && op.Subresource == ""
	if ofQuota || !equality.Semantic.DeepEqual(amounts(op.Objects.Resource, old), amounts(op.Objects.Resource, next)) {
		s.syncQuotas(namespace)
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
	next.Status = corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{}, Used: s.used(next)}
	for name := range next.Status.Used {
		next.Status.Hard[name] = next.Spec.Hard[name]
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
