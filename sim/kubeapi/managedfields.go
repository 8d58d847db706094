package kubeapi

import (
	"fmt"
	"maps"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Who owns which field is recorded for what comes over HTTP. What the harness
// writes in process has no owners, like an object from before server-side apply:
// the first apply finds its fields owned by before-first-apply.

// fieldTypes is the schema of all built-in kinds. Making it takes longer than
// a server takes to start, so the first write over HTTP does.
var fieldTypes = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

// fieldManagers has one for each built-in kind and subresource that was written to; they hold no state.
var fieldManagers sync.Map // of fieldScope to *managedfields.FieldManager

type fieldScope struct {
	kind        schema.GroupVersionKind
	subresource string
}

// fieldManager returns what keeps account of the fields of res, or of one of
// its subresources.
func fieldManager(res *resource, subresource string) (*managedfields.FieldManager, error) {
	scope, made := fieldScope{res.gvk(), subresource}, &fieldManagers
	if res.custom != nil {
		made = &res.custom.managers // as long as the definition stays as it is
	}
	if found, ok := made.Load(scope); ok {
		return found.(*managedfields.FieldManager), nil
	}
	m, err := newFieldManager(res, subresource)
	if err != nil {
		return nil, fmt.Errorf("keeping account of the fields of %s: %w", scope.kind.Kind, err)
	}
	made.Store(scope, m)
	return m, nil
}

// newFieldManager goes without a schema, which only says what is a list of
// things with owners of their own, for the kinds that client-go has none for.
func newFieldManager(res *resource, subresource string) (*managedfields.FieldManager, error) {
	kind, ignored := res.gvk(), notOwned(res, subresource)
	if res.custom != nil {
		types, err := customTypes(res)
		if err != nil {
			return nil, err
		}
		return managedfields.NewDefaultCRDFieldManager(types,
			fieldConverter{}, defaulter{res}, fieldConverter{}, kind, kind.GroupVersion(), subresource, ignored)
	}
	types := fieldTypes
	if res == scales || res.review != nil || kind.Group == apiextensionsv1.GroupName {
		types = managedfields.NewDeducedTypeConverter
	}
	return managedfields.NewDefaultFieldManager(types(), fieldConverter{}, defaulter{res}, scheme.Scheme, kind, kind.GroupVersion(), subresource, ignored)
}

// notOwned are the fields that a write through a subresource does not touch, and
// so does not own.
func notOwned(res *resource, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	var paths []fieldpath.Path
	switch {
	case subresource == "status":
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
		if res.kind == "Deployment" {
			paths = append(paths, fieldpath.MakePathOrDie("metadata", "labels"))
		}
	case subresource == "" && res.status:
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	default:
		return nil
	}
	version := fieldpath.APIVersion(res.groupVersion().String())
	return map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(fieldpath.NewSet(paths...))}
}

// defaulter fills in what an applied object leaves out.
type defaulter struct{ res *resource }

func (d defaulter) Default(obj runtime.Object) { d.res.complete(obj, nil) }

// account keeps the account of who owns which field of the objects of a resource, for the
// writes through one of its subresources, or through none.
type account struct {
	res         *resource
	subresource string
}

// own returns next, which manager made of old, with the account of its fields
// brought up to date. A new object is made of an empty one. Old may be base
// skimmed; base is nil if old is not the decoded state of one.
func (a account) own(base *object, old, next runtime.Object, manager string) (runtime.Object, error) {
	if a.ownsAlike(base, old, next, manager) {
		return next, nil
	}
	if base != nil && base.res.bulk.field != 0 {
		var err error
		if old, err = base.decode(); err != nil {
			return nil, err
		}
	}
	entries, err := a.entries(old, next, manager)
	if err != nil { // what kube-apiserver does, too: the account stays as it was
		entries = metadataOf(old).ManagedFields
	}
	metadataOf(next).ManagedFields = entries
	return bare(next), nil
}

// entries works out who owns what of next.
func (a account) entries(old, next runtime.Object, manager string) ([]metav1.ManagedFieldsEntry, error) {
	m, err := fieldManager(a.res, a.subresource)
	if err != nil {
		return nil, err
	}
	before, err := a.res.toFields(old)
	if err != nil {
		return nil, err
	}
	after, err := a.res.toFields(next)
	if err != nil {
		return nil, err
	}
	owned, err := m.Update(before, after, manager)
	if err != nil {
		return nil, err
	}
	return managedFieldsOf(owned), nil
}

// bare takes the kind away that a field manager gives objects; stored ones have none.
func bare(obj runtime.Object) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}

// sameManagers says whether two accounts are the same but for their times.
func sameManagers(a, b []metav1.ManagedFieldsEntry) bool {
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

// fieldConverter converts between the versions of a kind: every kind has one,
// but for those that are views of another.
type fieldConverter struct{}

var sameVersion = runtime.UnsafeObjectConvertor(scheme.Scheme)

func (fieldConverter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	to, ok := gv.(schema.GroupVersion)
	if u, custom := in.(*unstructured.Unstructured); ok && custom && !scheme.Scheme.Recognizes(kind) {
		same := &unstructured.Unstructured{Object: maps.Clone(u.Object)} // a custom object differs in its version alone
		same.SetGroupVersionKind(to.WithKind(kind.Kind))
		return same, nil
	}
	if !ok || kind.Empty() || kind.GroupVersion() == to {
		return sameVersion.ConvertToVersion(in, gv)
	}
	typed, err := sameVersion.ConvertToVersion(in, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	for _, res := range resources {
		switch {
		case res.view == nil || res.kind != kind.Kind:
		case res.groupVersion() == to:
			return sameVersion.ConvertToVersion(res.view.show(typed), to)
		case res.view.of.groupVersion() == to:
			return sameVersion.ConvertToVersion(res.view.unshow(typed), to)
		}
	}
	return nil, runtime.NewNotRegisteredErrForKind("kubeapi", to.WithKind(kind.Kind))
}

// New makes an empty custom object.
func (fieldConverter) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

func (fieldConverter) Convert(in, out, context any) error {
	return scheme.Scheme.Convert(in, out, context)
}

func (fieldConverter) ConvertFieldLabel(kind schema.GroupVersionKind, label, value string) (string, string, error) {
	return scheme.Scheme.ConvertFieldLabel(kind, label, value)
}
