package ownership

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// updateUnchanged updates the managedFields of the most frequent writes without a field manager:
// those that change only values, so that the fields keep their owners. It covers writes of an
// object without owners, by its only owner, or by the only owner of the large field if nothing else
// changes. Only the time of the manager's entry changes.
func (a Tracker) updateUnchanged(base *store.Object, old, next runtime.Object, manager string) bool {
	if base == nil || !a.isPlain() {
		return false
	}
	was, is := object.Meta(old).ManagedFields, object.Meta(next).ManagedFields
	if len(was) == 0 {
		return is == nil // kube-apiserver does not start managedFields with an update, either
	}
	if is != nil && !SameManagers(was, is) {
		return false
	}
	mine := slices.IndexFunc(was, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationUpdate &&
			e.Subresource == "" && e.APIVersion == a.Resource.GroupVersion().String()
	})
	if mine < 0 || !sameLargeField(base, next) {
		return false
	}
	if len(was) == 1 && !sameFieldSet(base.Resource, old, next) {
		return false
	}
	if len(was) > 1 && !(ownsLargeField(base.Resource, was, mine) && sameExceptLargeField(base.Resource, old, next)) {
		return false
	}
	object.Meta(next).ManagedFields = withNewTime(was, mine)
	return true
}

// withNewTime returns the entries with the time of one of them set to now, in the order of
// kube-apiserver.
func withNewTime(entries []metav1.ManagedFieldsEntry, which int) []metav1.ManagedFieldsEntry {
	now := metav1.NewTime(time.Now().UTC())
	entries = slices.Clone(entries)
	entries[which].Time = &now
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
	return entries
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// ownsLargeField reports whether this entry, and no other, owns the large field.
func ownsLargeField(res *resource.Resource, entries []metav1.ManagedFieldsEntry, which int) bool {
	if res.LargeField.Field == 0 {
		return false
	}
	for i, entry := range entries {
		if entry.FieldsV1 == nil || hasField(entry.FieldsV1.GetRawString(), strings.ToLower(res.LargeField.Name)) != (i == which) {
			return false
		}
	}
	return true
}

// hasField reports whether a top-level field is in a set of fields, without parsing the set. A set
// is JSON of objects only.
func hasField(set, name string) bool {
	key, depth := `"f:`+name+`":`, 0
	for i := 0; i < len(set); i++ {
		switch set[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '"':
			if depth == 1 && strings.HasPrefix(set[i:], key) {
				return true
			}
			for i++; i < len(set) && set[i] != '"'; i++ {
				if set[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// sameExceptLargeField reports whether a client could have changed nothing but the large field
// between old and next. An empty list and an absent one have different owners, so they differ.
func sameExceptLargeField(res *resource.Resource, old, next runtime.Object) bool {
	was, is := object.Meta(old), *object.Meta(next)
	is.ManagedFields = was.ManagedFields
	if !SameMetadata(&is, was) {
		return false
	}
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(next).Elem()
	for i := range a.NumField() {
		switch name := a.Type().Field(i).Name; name {
		case "TypeMeta", "ObjectMeta", res.LargeField.Name:
		default:
			if !reflect.DeepEqual(a.Field(i).Addr().Interface(), b.Field(i).Addr().Interface()) {
				return false
			}
		}
	}
	return true
}

// SameMetadata reports whether a and b are equal in all that an update may set, and so equally
// valid. Validation takes longer than the rest of an update.
func SameMetadata(a, b *metav1.ObjectMeta) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && a.GenerateName == b.GenerateName &&
		slices.Equal(a.Finalizers, b.Finalizers) && reflect.DeepEqual(a.OwnerReferences, b.OwnerReferences) && SameManagers(a.ManagedFields, b.ManagedFields)
}
