package snapshot

import (
	"cmp"
	"hash/maphash"
	"iter"
	"maps"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shards is the number of parts in which a cluster's slices are stored. The snapshots of a Ledger
// share the parts in which nothing changed.
const shards = 256

// EndpointSlices stores slices by the service they belong to (label kubernetes.io/service-name).
// The slices of a service are sorted by name. The zero value is empty.
type EndpointSlices struct {
	shards *[shards]map[types.NamespacedName][]*discoveryv1.EndpointSlice
}

// seed affects only the choice of shards, which is invisible to callers.
var seed = maphash.MakeSeed()

func shardOf(service types.NamespacedName) int {
	return int(maphash.Comparable(seed, service) % shards)
}

// Of returns the slices of a service.
func (s EndpointSlices) Of(service types.NamespacedName) []*discoveryv1.EndpointSlice {
	if s.shards == nil {
		return nil
	}
	return s.shards[shardOf(service)][service]
}

// All yields the services that have slices, and their slices, in any order.
func (s EndpointSlices) All() iter.Seq2[types.NamespacedName, []*discoveryv1.EndpointSlice] {
	return func(yield func(types.NamespacedName, []*discoveryv1.EndpointSlice) bool) {
		if s.shards == nil {
			return
		}
		for _, shard := range s.shards {
			for service, all := range shard {
				if !yield(service, all) {
					return
				}
			}
		}
	}
}

// with returns a copy of s with the slices of the given services replaced. An empty list removes
// the service. s is not modified.
func (s EndpointSlices) with(changed map[types.NamespacedName][]*discoveryv1.EndpointSlice) EndpointSlices {
	next := new([shards]map[types.NamespacedName][]*discoveryv1.EndpointSlice)
	if s.shards != nil {
		*next = *s.shards
	}
	var own [shards]bool // shards that are already cloned
	for service, group := range changed {
		i := shardOf(service)
		if !own[i] {
			next[i], own[i] = maps.Clone(next[i]), true
		}
		if len(group) == 0 {
			delete(next[i], service)
			continue
		}
		if next[i] == nil {
			next[i] = make(map[types.NamespacedName][]*discoveryv1.EndpointSlice)
		}
		next[i][service] = sortedByName(group)
	}
	return EndpointSlices{next}
}

// byService groups slices by service. As in the Kubernetes API, slices without the label belong to
// no service, and are left out.
func byService(all []*discoveryv1.EndpointSlice) EndpointSlices {
	grouped := make(map[types.NamespacedName][]*discoveryv1.EndpointSlice, len(all))
	for _, slice := range all {
		if service := serviceOf(slice); service.Name != "" {
			grouped[service] = append(grouped[service], slice)
		}
	}
	return EndpointSlices{}.with(grouped)
}

// serviceOf returns the service that a slice belongs to. Its name is empty if there is none.
func serviceOf(slice *discoveryv1.EndpointSlice) types.NamespacedName {
	return types.NamespacedName{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
}

func sortedByName(group []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	slices.SortFunc(group, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	return group
}
