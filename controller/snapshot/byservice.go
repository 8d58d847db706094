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

// shards is how many parts the slices of a cluster are in. Those in which
// nothing changed are shared by the snapshots of a Ledger.
const shards = 256

// EndpointSlices are kept by the service they belong to (label
// kubernetes.io/service-name), each list by name. The zero value holds none.
type EndpointSlices struct {
	shards *[shards]map[types.NamespacedName][]*discoveryv1.EndpointSlice
}

// seed only decides which shard a service is in, which nobody sees.
var seed = maphash.MakeSeed()

func shardOf(service types.NamespacedName) int {
	return int(maphash.Comparable(seed, service) % shards)
}

// Of are the slices of a service.
func (s EndpointSlices) Of(service types.NamespacedName) []*discoveryv1.EndpointSlice {
	if s.shards == nil {
		return nil
	}
	return s.shards[shardOf(service)][service]
}

// All are the services that have slices, in any order, with those.
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

// with is s with others in the place of some services' slices; none takes a
// service out. s stays as it is.
func (s EndpointSlices) with(changed map[types.NamespacedName][]*discoveryv1.EndpointSlice) EndpointSlices {
	next := new([shards]map[types.NamespacedName][]*discoveryv1.EndpointSlice)
	if s.shards != nil {
		*next = *s.shards
	}
	var own [shards]bool // cloned already
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

// byService groups slices. Those without the label that names their service
// belong to none and are left out, as the Kubernetes API has it.
func byService(all []*discoveryv1.EndpointSlice) EndpointSlices {
	grouped := make(map[types.NamespacedName][]*discoveryv1.EndpointSlice, len(all))
	for _, slice := range all {
		if service := serviceOf(slice); service.Name != "" {
			grouped[service] = append(grouped[service], slice)
		}
	}
	return EndpointSlices{}.with(grouped)
}

// serviceOf is the service that a slice belongs to; its name is empty if it
// belongs to none.
func serviceOf(slice *discoveryv1.EndpointSlice) types.NamespacedName {
	return types.NamespacedName{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
}

func sortedByName(group []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	slices.SortFunc(group, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	return group
}
