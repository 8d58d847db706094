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

// A cluster's slices are stored in rows of shards. Snapshots of a Ledger share the unchanged rows,
// and the unchanged shards of the other rows. So a change copies little, even in a large cluster.
const rows, shards = 64, 64

type (
	row   [shards]shard
	shard map[types.NamespacedName][]*discoveryv1.EndpointSlice
)

// EndpointSlices stores slices by the service they belong to (label kubernetes.io/service-name).
// The slices of a service are sorted by name. The zero value is empty.
type EndpointSlices struct {
	rows *[rows]*row // nil rows are empty
}

// seed affects only the choice of shards, which is invisible to callers.
var seed = maphash.MakeSeed()

// shardOf returns the row of a service, and its shard in that row.
func shardOf(service types.NamespacedName) (inAll, inRow int) {
	hash := maphash.Comparable(seed, service)
	return int(hash % rows), int(hash / rows % shards)
}

// Of returns the slices of a service.
func (s EndpointSlices) Of(service types.NamespacedName) []*discoveryv1.EndpointSlice {
	if s.rows == nil {
		return nil
	}
	inAll, inRow := shardOf(service)
	row := s.rows[inAll]
	if row == nil {
		return nil
	}
	return row[inRow][service]
}

// All yields the services that have slices, and their slices, in any order.
func (s EndpointSlices) All() iter.Seq2[types.NamespacedName, []*discoveryv1.EndpointSlice] {
	return func(yield func(types.NamespacedName, []*discoveryv1.EndpointSlice) bool) {
		for shard := range s.filled() {
			for service, all := range shard {
				if !yield(service, all) {
					return
				}
			}
		}
	}
}

// filled yields the shards of all rows that are not empty.
func (s EndpointSlices) filled() iter.Seq[shard] {
	return func(yield func(shard) bool) {
		if s.rows == nil {
			return
		}
		for _, row := range s.rows {
			if row == nil {
				continue
			}
			for _, shard := range row {
				if !yield(shard) {
					return
				}
			}
		}
	}
}

// with returns a copy of s with the slices of the given services replaced. An empty list removes
// the service. s is not modified.
func (s EndpointSlices) with(changed map[types.NamespacedName][]*discoveryv1.EndpointSlice) EndpointSlices {
	copying := copying{to: new([rows]*row)}
	if s.rows != nil {
		*copying.to = *s.rows
	}
	for service, group := range changed {
		own := copying.shardOf(service)
		if len(group) == 0 {
			delete(own, service)
			continue
		}
		own[service] = sortedByName(group)
	}
	return EndpointSlices{copying.to}
}

// copying is a copy of which some rows and shards are still shared with the original.
type copying struct {
	to        *[rows]*row
	ownRows   [rows]bool
	ownShards [rows][shards]bool
}

// shardOf returns the shard of a service, which can be modified.
func (c *copying) shardOf(service types.NamespacedName) shard {
	i, j := shardOf(service)
	if !c.ownRows[i] {
		own := new(row)
		if shared := c.to[i]; shared != nil {
			*own = *shared
		}
		c.to[i], c.ownRows[i] = own, true
	}
	row := c.to[i]
	if !c.ownShards[i][j] {
		row[j], c.ownShards[i][j] = maps.Clone(row[j]), true
	}
	if row[j] == nil {
		row[j] = make(shard)
	}
	return row[j]
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
