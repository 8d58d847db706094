package kubeapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// describe writes the schemas of a group version's kinds and returns its paths.
// Clients look at the paths for a resource's kind, and for the parameters that say
// what the server can do.
func (w schemaWriter) describe(t table, gv schema.GroupVersion) document {
	paths := document{}
	for _, res := range t {
		if res.groupVersion() != gv {
			continue
		}
		if res.custom == nil {
			w.root(res.gvk())
			w.root(gv.WithKind(res.kind + "List"))
		}
		w.describeResource(paths, res)
	}
	return paths
}

func (w schemaWriter) describeResource(paths document, res *resource) {
	all := "/" + groupPath(res.groupVersion()) + "/"
	base := all
	if !res.clusterScoped {
		base += "namespaces/{namespace}/"
	}
	base += res.name
	if res.review != nil {
		w.path(paths, base, res, "post:post")
		return
	}
	collection := []string{"get:list", "post:post", "delete:deletecollection"}
	if res.noDeleteAll {
		collection = collection[:2]
	}
	w.path(paths, base, res, collection...)
	if !res.clusterScoped {
		w.path(paths, all+res.name, res, "get:list")
	}
	one := base + "/{name}"
	w.path(paths, one, res, "get:get", "put:put", "patch:patch", "delete:delete")
	if res.status {
		w.path(paths, one+"/status", res, "get:get", "put:put", "patch:patch")
	}
	if res.scale || res.custom.scales() {
		w.path(paths, one+"/scale", scales, "get:get", "put:put", "patch:patch")
	}
	for _, sub := range res.subresources {
		if sub == "binding" {
			w.path(paths, one+"/"+sub, res, "post:post")
			continue
		}
		w.path(paths, one+"/"+sub, res, "put:put")
	}
}

// path writes the operations of a path, each a method and an action.
func (w schemaWriter) path(paths document, path string, res *resource, operations ...string) {
	item := document{}
	for _, operation := range operations {
		method, action, _ := strings.Cut(operation, ":")
		op := document{
			"x-kubernetes-action":             action,
			"x-kubernetes-group-version-kind": document{"group": res.group, "version": res.version, "kind": res.kind},
			"responses":                       document{"200": document{"description": "OK"}},
		}
		if method != "get" {
			op["parameters"] = w.parameters("dryRun", "fieldManager", "fieldValidation")
		}
		item[method] = op
	}
	paths[path] = item
}

func (w schemaWriter) parameters(names ...string) []document {
	var all []document
	for _, name := range names {
		p := document{"name": name, "in": "query"}
		if w.v3 {
			p["schema"] = document{"type": "string", "uniqueItems": true}
		} else {
			p["type"], p["uniqueItems"] = "string", true
		}
		all = append(all, p)
	}
	return all
}

// root writes the schema of a kind, with its name as clients look for it.
func (w schemaWriter) root(gvk schema.GroupVersionKind) {
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		return // a kind without list
	}
	t := reflect.TypeOf(obj).Elem()
	w.reference(t)
	w.schemas[modelName(t)].(document)["x-kubernetes-group-version-kind"] = []document{{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
}
