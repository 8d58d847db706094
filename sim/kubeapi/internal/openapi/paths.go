package openapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Describe writes the schemas of a group version's kinds and returns its paths. From the paths, clients
// read the kind of each resource and the parameters that the server supports.
func (w SchemaWriter) Describe(t resource.Table, gv schema.GroupVersion) Document {
	paths := Document{}
	for _, res := range t {
		if res.GroupVersion() != gv {
			continue
		}
		if res.Custom == nil {
			w.root(res.GVK())
			w.root(gv.WithKind(res.Kind + "List"))
		}
		w.describeResource(paths, res)
	}
	return paths
}

func (w SchemaWriter) describeResource(paths Document, res *resource.Resource) {
	all := "/" + GroupPath(res.GroupVersion()) + "/"
	base := all
	if !res.ClusterScoped {
		base += "namespaces/{namespace}/"
	}
	base += res.Name
	if res.Review != nil {
		w.path(paths, base, res, "post:post")
		return
	}
	collection := []string{"get:list", "post:post", "delete:deletecollection"}
	if res.NoDeleteAll {
		collection = collection[:2]
	}
	w.path(paths, base, res, collection...)
	if !res.ClusterScoped {
		w.path(paths, all+res.Name, res, "get:list")
	}
	one := base + "/{name}"
	w.path(paths, one, res, "get:get", "put:put", "patch:patch", "delete:delete")
	if res.Status {
		w.path(paths, one+"/status", res, "get:get", "put:put", "patch:patch")
	}
	if res.Scale || res.Custom.Scales() {
		w.path(paths, one+"/scale", resource.Scales, "get:get", "put:put", "patch:patch")
	}
	for _, sub := range res.Subresources {
		w.path(paths, one+"/"+sub, res, "put:put")
	}
	for _, post := range res.Posts {
		w.root(post.Kind.GVK())
		w.path(paths, one+"/"+post.Name, post.Kind, "post:post")
	}
}

// path writes the operations of a path. Each operation is a method and an action.
func (w SchemaWriter) path(paths Document, path string, res *resource.Resource, operations ...string) {
	item := Document{}
	for _, operation := range operations {
		method, action, _ := strings.Cut(operation, ":")
		op := Document{
			"x-kubernetes-action":             action,
			"x-kubernetes-group-version-kind": Document{"group": res.Group, "version": res.Version, "kind": res.Kind},
			"responses":                       Document{"200": Document{"description": "OK"}},
		}
		if method != "get" {
			op["parameters"] = w.parameters("dryRun", "fieldManager", "fieldValidation")
		}
		item[method] = op
	}
	paths[path] = item
}

func (w SchemaWriter) parameters(names ...string) []Document {
	var all []Document
	for _, name := range names {
		p := Document{"name": name, "in": "query"}
		if w.V3 {
			p["schema"] = Document{"type": "string", "uniqueItems": true}
		} else {
			p["type"], p["uniqueItems"] = "string", true
		}
		all = append(all, p)
	}
	return all
}

// root writes the schema of a kind under the name that clients look up.
func (w SchemaWriter) root(gvk schema.GroupVersionKind) {
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		return // a kind without list
	}
	t := reflect.TypeOf(obj).Elem()
	w.reference(t)
	w.Schemas[modelName(t)].(Document)["x-kubernetes-group-version-kind"] = []Document{{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
}
