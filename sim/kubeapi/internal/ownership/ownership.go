// Package ownership maintains metadata.managedFields, which records the owners of fields. It stands
// between a write and the field managers of apimachinery. Its one rule: a shortcut around the field
// manager gives the owners that the field manager would give.
package ownership

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/openapi"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Only writes over HTTP record owners. Objects that the harness writes from within the process have
// none, like an object from before server-side apply: on the first apply, before-first-apply
// becomes the owner of their fields.

// fieldTypes returns the schema of all built-in kinds. Building it takes longer than starting a
// server, so the first write over HTTP builds it.
var fieldTypes = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

// fieldManagers holds a field manager for each built-in kind and subresource that was written. Field
// managers have no state.
var fieldManagers sync.Map // of fieldScope to *managedfields.FieldManager

type fieldScope struct {
	kind        schema.GroupVersionKind
	Subresource string
}

// fieldManager returns the field manager of res, or of one of its subresources.
func fieldManager(res *resource.Resource, subresource string) (*managedfields.FieldManager, error) {
	scope, made := fieldScope{res.GVK(), subresource}, &fieldManagers
	if res.Custom != nil {
		made = &res.Custom.Managers // valid until the definition changes
	}
	if found, ok := made.Load(scope); ok {
		return found.(*managedfields.FieldManager), nil
	}
	m, err := newFieldManager(res, subresource)
	if err != nil {
		return nil, fmt.Errorf("tracking the owners of the fields of %s: %w", scope.kind.Kind, err)
	}
	made.Store(scope, m)
	return m, nil
}

// newFieldManager uses no schema for kinds that client-go has no schema for. A schema only defines
// which lists have elements with owners of their own.
func newFieldManager(res *resource.Resource, subresource string) (*managedfields.FieldManager, error) {
	kind, ignored := res.GVK(), notOwned(res, subresource)
	if res.Custom != nil {
		types, err := openapi.FieldTypes(res)
		if err != nil {
			return nil, err
		}
		return managedfields.NewDefaultCRDFieldManager(types,
			fieldConverter{}, defaulter{res}, fieldConverter{}, kind, kind.GroupVersion(), subresource, ignored)
	}
	types := fieldTypes
	if res == resource.Scales || res.Review != nil || res == kinds.TokenRequests || kind.Group == apiextensionsv1.GroupName {
		types = managedfields.NewDeducedTypeConverter
	}
	return managedfields.NewDefaultFieldManager(types(), fieldConverter{}, defaulter{res}, scheme.Scheme, kind, kind.GroupVersion(), subresource, ignored)
}

// notOwned returns the fields that a write through a subresource does not change, and so does not
// own.
func notOwned(res *resource.Resource, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	var paths []fieldpath.Path
	switch {
	case subresource == "status":
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
		if res.Kind == "Deployment" {
			paths = append(paths, fieldpath.MakePathOrDie("metadata", "labels"))
		}
	case subresource == "" && res.Status:
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	default:
		return nil
	}
	version := fieldpath.APIVersion(res.GroupVersion().String())
	return map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(fieldpath.NewSet(paths...))}
}

// defaulter sets the defaults of the fields that an applied object leaves out.
type defaulter struct{ res *resource.Resource }

func (d defaulter) Default(obj runtime.Object) { d.res.Complete(obj, nil) }

// Tracker tracks the owners of the fields of a resource's objects, for writes through one
// subresource or through none.
type Tracker struct {
	Resource    *resource.Resource
	Subresource string
}

// Update returns next, which manager made from old, with updated managedFields. For a new object,
// old is empty. old may be base without its large field; base is nil if old is not the decoded
// state of a stored object.
func (a Tracker) Update(base *store.Object, old, next runtime.Object, manager string) (runtime.Object, error) {
	if a.updateUnchanged(base, old, next, manager) {
		return next, nil
	}
	if base != nil && base.Resource.LargeField.Field != 0 {
		var err error
		if old, err = base.Decode(); err != nil {
			return nil, err
		}
	}
	entries, err := a.entries(old, next, manager)
	if err != nil { // the owners do not change, as in kube-apiserver
		entries = object.Meta(old).ManagedFields
	}
	object.Meta(next).ManagedFields = entries
	return object.WithoutKind(next), nil
}

// entries computes the owners of the fields of next.
func (a Tracker) entries(old, next runtime.Object, manager string) ([]metav1.ManagedFieldsEntry, error) {
	m, err := fieldManager(a.Resource, a.Subresource)
	if err != nil {
		return nil, err
	}
	before, err := toFields(a.Resource, old)
	if err != nil {
		return nil, err
	}
	after, err := toFields(a.Resource, next)
	if err != nil {
		return nil, err
	}
	owned, err := m.Update(before, after, manager)
	if err != nil {
		return nil, err
	}
	return managedFieldsOf(owned), nil
}

// SameManagers reports whether two lists of managedFields differ only in their times.
func SameManagers(a, b []metav1.ManagedFieldsEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.Manager != y.Manager || x.Operation != y.Operation || x.APIVersion != y.APIVersion ||
			x.Subresource != y.Subresource || x.FieldsType != y.FieldsType || !sameFields(x.FieldsV1, y.FieldsV1) {
			return false
		}
	}
	return true
}

func sameFields(a, b *metav1.FieldsV1) bool {
	return a == b || (a != nil && b != nil && a.Equal(*b))
}
