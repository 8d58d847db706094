package ownership

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// ownsAlike takes the short way for the writes that come by the thousand, in which
// fields only get other values and keep their owners: those of an object without
// owners, of the only owner, and of the only owner of the bulk when nothing else
// changes. The account remains but for the time of manager's entry.
func (a Account) ownsAlike(base *store.Object, old, next runtime.Object, manager string) bool {
	if base == nil || a.Subresource != "" || a.Resource.Custom != nil {
		return false
	}
	was, is := object.Meta(old).ManagedFields, object.Meta(next).ManagedFields
	if len(was) == 0 {
		return is == nil // kube-apiserver starts no account with an update, either
	}
	if is != nil && !SameManagers(was, is) {
		return false
	}
	mine := slices.IndexFunc(was, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationUpdate &&
			e.Subresource == "" && e.APIVersion == a.Resource.GroupVersion().String()
	})
	if mine < 0 || !sameBulk(base, next) {
		return false
	}
	if len(was) == 1 && !sameShape(base.Resource, old, next) {
		return false
	}
	if len(was) > 1 && !(ownsBulk(base.Resource, was, mine) && sameButBulk(base.Resource, old, next)) {
		return false
	}
	object.Meta(next).ManagedFields = renewed(was, mine)
	return true
}

// renewed is an account with one entry's time set to now, in the order of kube-apiserver.
func renewed(account []metav1.ManagedFieldsEntry, which int) []metav1.ManagedFieldsEntry {
	now := metav1.NewTime(time.Now().UTC())
	account = slices.Clone(account)
	account[which].Time = &now
	slices.SortFunc(account, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
	return account
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// ownsBulk says whether one entry of an account, and no other, has the bulk.
func ownsBulk(res *resource.Resource, account []metav1.ManagedFieldsEntry, which int) bool {
	if res.Bulk.Field == 0 {
		return false
	}
	for i, entry := range account {
		if entry.FieldsV1 == nil || hasField(entry.FieldsV1.GetRawString(), strings.ToLower(res.Bulk.Name)) != (i == which) {
			return false
		}
	}
	return true
}

// hasField says whether a field at the top is in a set of fields, which is JSON of
// objects only, without parsing it.
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

// sameButBulk says whether old and next differ in nothing but their bulk that a client may set.
func sameButBulk(res *resource.Resource, old, next runtime.Object) bool {
	was, is := object.Meta(old), *object.Meta(next)
	is.ManagedFields = was.ManagedFields
	if !SameMetadata(&is, was) {
		return false
	}
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(next).Elem()
	for i := range a.NumField() {
		switch name := a.Type().Field(i).Name; name {
		case "TypeMeta", "ObjectMeta", res.Bulk.Name:
		default:
			if !equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
				return false
			}
		}
	}
	return true
}

// SameMetadata says whether nothing differs of what an update may set, so that
// all is as valid as it was. Validation takes longer than the rest of an update.
func SameMetadata(a, b *metav1.ObjectMeta) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && a.GenerateName == b.GenerateName &&
		slices.Equal(a.Finalizers, b.Finalizers) && reflect.DeepEqual(a.OwnerReferences, b.OwnerReferences) && SameManagers(a.ManagedFields, b.ManagedFields)
}
