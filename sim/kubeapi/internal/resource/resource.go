// Package resource defines the description of a kind: its names, its subresources, the functions
// with its rules, and its columns. It stands between the table of kinds, which contains these
// descriptions, and everything that serves them. Its one rule: a row is data and functions of
// objects; it neither stores objects nor sees requests.
package resource

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// Custom holds what a version of a CustomResourceDefinition adds to its row. It is nil for the
// built-in kinds.
type Custom struct {
	Structural *structuralschema.Structural // nil: all content is valid
	Scale      *scalePaths                  // nil: no scale subresource
	Selectable map[string][]string          // paths of the fields that selectors may name, by their names
	Managers   sync.Map                     // like ownership's fieldManagers, for this kind
}

func (c *Custom) Scales() bool { return c != nil && c.Scale != nil }

func (res *Resource) Singular() string {
	if res.SingularName != "" {
		return res.SingularName
	}
	return strings.ToLower(res.Kind)
}

// Resource is a row of the table: everything that the server knows about one kind. In most rows the
// fields below Kind have their zero value.
type Resource struct {
	Group, Version   string
	APIVersion       string       // group/version, made once because every answer has it
	GoType           reflect.Type // of the objects, looked up once because every write makes one; nil if the row is not in a table
	Name, Kind       string       // ingresses, Ingress
	SingularName     string       // default: the kind in lower case
	ListKind         string       // default: the kind with the suffix List
	Short            []string
	Categories       []string
	ClusterScoped    bool
	Status           bool                              // has a status subresource, which alone writes status
	CreatesStatus    bool                              // a create may set status, too
	Generation       bool                              // counts changes of its spec in metadata.generation
	GenerationLabels bool                              // also counts changes of its labels
	Upsert           bool                              // a PUT of a missing object creates it
	NeedsVersion     bool                              // an update must carry the resourceVersion
	Subresources     []string                          // subresources other than status that are updated, each with its own handler
	Posts            []Post                            // subresources to which clients post an object of another kind
	Review           func(runtime.Object, Asker) error // answers a posted object; nothing is stored
	ReturnsDeleted   bool                              // DELETE answers with the object instead of a Status
	NoDeleteAll      bool                              // DELETE of its collection is not supported
	ValidatedWhole   bool                              // an update is also validated as if the object were new
	Terminates       bool                              // a deletion first marks the object, in a separate write
	NoDependents     bool                              // never owns other objects, so no propagation policy delays its deletion
	Scale            bool                              // has a scale subresource
	ValidName        validation.ValidateNameFunc       // default: a DNS subdomain
	Fields           func(runtime.Object) fields.Set   // selectable fields beyond metadata's
	// Defaults sets the fields that the client left out; old is nil on create.
	Defaults func(obj, old runtime.Object)
	// Admit applies admission plugins of kube-apiserver to a new object, before the webhooks.
	Admit func(obj runtime.Object, in Cluster) error
	// Decoded sets the fields that have the same value in every object and that protobuf leaves out.
	Decoded func(obj runtime.Object)
	// Prepare sets the fields that the server decides and no client owns; old is nil on create.
	Prepare func(obj, old runtime.Object, in Cluster)
	// Validate returns the problems of obj except those of its metadata; old is nil on create.
	Validate   func(obj, old runtime.Object, in Cluster) field.ErrorList
	LargeField LargeField // the field that makes the objects large, if the kind has one
	Printer    *Printer   // nil: name and age
	View       *View      // set if the objects are stored as another resource
	Custom     *Custom    // set if the resource comes from a CustomResourceDefinition
}

// Post is a subresource to which clients post an object of another kind, which is not stored.
type Post struct {
	Name string
	Kind *Resource
}

// Posted returns the kind that clients post to a subresource, or nil.
func (res *Resource) Posted(subresource string) *Resource {
	for _, post := range res.Posts {
		if post.Name == subresource {
			return post.Kind
		}
	}
	return nil
}

// Cluster is the information about the cluster that the rules of a kind can use.
type Cluster interface {
	// Objects returns all objects of a built-in resource of version v1; the caller may change them.
	Objects(group, resource string) []runtime.Object
	// Object returns one such object, or nil if it does not exist.
	Object(group, resource, namespace, name string) runtime.Object
	// AccountsRequired reports whether a pod must have a service account that exists.
	AccountsRequired() bool
	// Served returns the table of all resources, including custom ones.
	Served() Table
	// LoopbackEndpoints reports whether an EndpointSlice may have addresses in 127.0.0.0/8.
	LoopbackEndpoints() bool
}

// Asker is the user who posts a review, and the namespace of the review.
type Asker struct {
	User      authenticationv1.UserInfo
	Namespace string
	// Authenticate returns the status of a review of a token for the audiences.
	Authenticate func(token string, audiences []string) authenticationv1.TokenReviewStatus
}

func (res *Resource) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: res.Group, Version: res.Version, Kind: res.Kind}
}

func (res *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: res.Group, Version: res.Version}
}

func (res *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: res.Group, Resource: res.Name}
}

// TypeMeta returns the kind and apiVersion of a single object, or of a list if the suffix is
// "List".
func (res *Resource) TypeMeta(suffix string) metav1.TypeMeta {
	kind := res.Kind + suffix
	if suffix != "" && res.ListKind != "" {
		kind = res.ListKind
	}
	if res.APIVersion == "" { // the row is not in a table
		return metav1.TypeMeta{Kind: kind, APIVersion: res.GroupVersion().String()}
	}
	return metav1.TypeMeta{Kind: kind, APIVersion: res.APIVersion}
}

// Empty returns a new, empty object.
func (res *Resource) Empty() runtime.Object {
	if res.Custom != nil {
		return &object.Custom{}
	}
	if res.GoType != nil {
		return reflect.New(res.GoType).Interface().(runtime.Object)
	}
	obj, err := scheme.Scheme.New(res.GVK())
	if err != nil {
		panic(fmt.Sprintf("kubeapi: the table of resources has a kind that client-go does not know: %v", err))
	}
	return obj
}

// Unmarshal decodes the kind's own protobuf message as a new object.
func (res *Resource) Unmarshal(message []byte) (runtime.Object, error) {
	obj := res.Empty()
	res.reserveLargeField(obj, message)
	return obj, obj.(object.Message).Unmarshal(message)
}

// Complete sets the defaults of the fields that the client left out; old is nil on create.
func (res *Resource) Complete(obj, old runtime.Object) {
	if res.Defaults != nil {
		res.Defaults(obj, old)
	}
}

// Invalid returns a 422 error with the problems of an object, or nil if there are no problems.
func (res *Resource) Invalid(name string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.NewInvalid(res.GVK().GroupKind(), name, problems)
}

func (res *Resource) NameRule() validation.ValidateNameFunc {
	if res.ValidName != nil {
		return res.ValidName
	}
	return validation.NameIsDNSSubdomain
}

// Has reports whether the resource has a subresource; every resource has the empty one.
func (res *Resource) Has(subresource string) bool {
	return subresource == "" || (subresource == "status" && res.Status) || slices.Contains(res.Subresources, subresource) || res.Posted(subresource) != nil ||
		(subresource == ScaleSubresource && (res.Scale || res.Custom.Scales()))
}
