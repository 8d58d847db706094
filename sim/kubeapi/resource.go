package kubeapi

import (
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// resource is what the server knows of one kind: a row of the table. The zero
// value of everything below kind is the common case.
type resource struct {
	group, version   string
	apiVersion       string // group/version, which init sets: it is in every answer
	name, kind       string // ingresses, Ingress
	singularName     string // default: the kind in lower case
	listKind         string // default: the kind and List
	short            []string
	categories       []string
	clusterScoped    bool
	status           bool                              // has a status subresource, which alone writes status
	createsStatus    bool                              // a create may set status, too
	generation       bool                              // counts changes of its spec in metadata.generation
	generationLabels bool                              // … and of its labels
	upsert           bool                              // a PUT of a missing object creates it
	needsRV          bool                              // an update must carry the resourceVersion
	subresources     []string                          // others than status, each with a verb of its own
	review           func(runtime.Object, asker) error // answers what is posted; nothing is stored
	returnsDeleted   bool                              // DELETE answers with the object instead of a Status
	noDeleteAll      bool                              // its collection cannot be deleted
	validatedWhole   bool                              // an update is validated as if the object were new, too
	terminates       bool                              // a deletion marks the object first, which is a write of its own
	noDependents     bool                              // owns nothing, so that no propagation policy holds it
	scale            bool                              // has a scale subresource
	validName        validation.ValidateNameFunc       // default: a DNS subdomain
	fields           func(runtime.Object) fields.Set   // selectable fields beyond metadata's
	// defaults fills in what the client left out; old is nil on create.
	defaults func(obj, old runtime.Object)
	// prepare sets what the server decides, and no client owns; old is nil on create.
	prepare func(obj, old runtime.Object, in cluster)
	// validate returns what is wrong with obj beyond its metadata; old is nil on create.
	validate func(obj, old runtime.Object, in cluster) field.ErrorList
	bulk     bulk     // the part of an object that makes it large, if there is one such
	printer  *printer // nil: name and age
	view     *view    // set if the objects are stored as another resource
	custom   *custom  // set if a CustomResourceDefinition made it
}

// cluster is what the rules of a kind may ask about the cluster that an object is in.
type cluster interface {
	// newClusterIP returns a free address for the Service with this namespace and name, and
	// claims it for that Service.
	newClusterIP(namespace, name string) string
	// served is the table of all resources, custom ones included.
	served() table
	// loopbackEndpoints reports whether an EndpointSlice may have addresses in 127.0.0.0/8.
	loopbackEndpoints() bool
}

// asker is who posts a review, and the namespace to which the review is posted.
type asker struct {
	user      authenticationv1.UserInfo
	namespace string
}

func (res *resource) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: res.group, Version: res.version, Kind: res.kind}
}

func (res *resource) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: res.group, Version: res.version}
}

func (res *resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: res.group, Resource: res.name}
}

// typeMeta is the kind and apiVersion that single objects carry; with "List" as suffix, lists.
func (res *resource) typeMeta(suffix string) metav1.TypeMeta {
	kind := res.kind + suffix
	if suffix != "" && res.listKind != "" {
		kind = res.listKind
	}
	if res.apiVersion == "" { // of no table
		return metav1.TypeMeta{Kind: kind, APIVersion: res.groupVersion().String()}
	}
	return metav1.TypeMeta{Kind: kind, APIVersion: res.apiVersion}
}

// empty returns a new, empty object.
func (res *resource) empty() runtime.Object {
	if res.custom != nil {
		return &customObject{}
	}
	obj, err := scheme.Scheme.New(res.gvk())
	if err != nil {
		panic(fmt.Sprintf("kubeapi: the table of resources has a kind that client-go does not know: %v", err))
	}
	return obj
}

// complete fills in what the client left out; old is nil on create.
func (res *resource) complete(obj, old runtime.Object) {
	if res.defaults != nil {
		res.defaults(obj, old)
	}
}

// invalid is the 422 of an object with problems, nil if there are none.
func (res *resource) invalid(name string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.NewInvalid(res.gvk().GroupKind(), name, problems)
}

func (res *resource) nameRule() validation.ValidateNameFunc {
	if res.validName != nil {
		return res.validName
	}
	return validation.NameIsDNSSubdomain
}

// has reports whether the resource has a subresource; every resource has the empty one.
func (res *resource) has(subresource string) bool {
	return subresource == "" || (subresource == "status" && res.status) || slices.Contains(res.subresources, subresource) ||
		(subresource == scaleSubresource && (res.scale || res.custom.scales()))
}

// findResource returns the row of a built-in resource, nil if there is none.
func findResource(gv schema.GroupVersion, name string) *resource {
	return resources.find(gv, name)
}

// fieldsOf and its siblings let a row name the type that it is about.
func fieldsOf[T runtime.Object](f func(T) fields.Set) func(runtime.Object) fields.Set {
	return func(obj runtime.Object) fields.Set { return f(obj.(T)) }
}

func defaultsOf[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		before, _ := old.(T) // the zero T, nil, on create
		f(obj.(T), before)
	}
}

func prepareOf[T runtime.Object](f func(obj, old T, in cluster)) func(obj, old runtime.Object, in cluster) {
	return func(obj, old runtime.Object, in cluster) {
		before, _ := old.(T)
		f(obj.(T), before, in)
	}
}

func validationOf[T runtime.Object](f func(obj, old T, in cluster) field.ErrorList) func(obj, old runtime.Object, in cluster) field.ErrorList {
	return func(obj, old runtime.Object, in cluster) field.ErrorList {
		before, _ := old.(T)
		return f(obj.(T), before, in)
	}
}
