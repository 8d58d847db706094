package kubeapi

import (
	"fmt"
	"maps"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

func init() {
	if err := apiextensionsv1.AddToScheme(scheme.Scheme); err != nil {
		panic(fmt.Sprintf("kubeapi: registering CustomResourceDefinition: %v", err))
	}
}

// definition is what one CustomResourceDefinition makes the server serve: its
// versions, each a view of base, the resource that the objects are stored as.
type definition struct {
	uid      types.UID
	base     *resource
	versions []*resource
	objects  *collection
}

func (d *definition) group() string { return d.base.group }
func (d *definition) name() string  { return d.base.name }

// watchDefinitions makes the server serve what is defined, from the moment that the
// definition is stored to the moment that it is not.
func (s *clusterState) watchDefinitions() {
	s.custom.Store(newRegistry(nil))
	s.definitions = s.builtIn(apiextensionsv1.SchemeGroupVersion, "customresourcedefinitions")
	s.definitions.observe(func(e event) {
		next := maps.Clone(s.custom.Load().definitions)
		if next == nil {
			next = map[string]*definition{}
		}
		known := next[e.object.name]
		if e.kind == watch.Deleted {
			if known != nil {
				delete(next, e.object.name)
				s.custom.Store(newRegistry(next))
				known.objects.close()
			}
			return
		}
		d, err := s.define(e.object, known)
		if err != nil || d == nil {
			return // it says of itself that it is not established
		}
		next[e.object.name] = d
		s.custom.Store(newRegistry(next))
	})
}

// define makes a definition of a stored CustomResourceDefinition; known is what there
// was of it before. It is nil if its names are not accepted.
func (s *clusterState) define(o *object, known *definition) (*definition, error) {
	obj, err := o.decode()
	if err != nil {
		return nil, err
	}
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !isTrue(crd, apiextensionsv1.Established) {
		return nil, nil
	}
	d := &definition{uid: crd.UID}
	if known != nil && known.uid == crd.UID {
		d.base, d.objects = known.base, known.objects
	} else {
		d.base = &resource{group: crd.Spec.Group, version: storageVersion(crd), name: crd.Spec.Names.Plural, kind: crd.Spec.Names.Kind,
			clusterScoped: crd.Spec.Scope == apiextensionsv1.ClusterScoped, custom: &custom{}}
		d.objects = newCollection(d.base, &s.revision)
	}
	for i := range crd.Spec.Versions {
		if !crd.Spec.Versions[i].Served {
			continue
		}
		version, err := d.version(crd, &crd.Spec.Versions[i])
		if err != nil {
			return nil, err
		}
		d.versions = append(d.versions, version)
	}
	return d, nil
}

// version makes the row of one version.
func (d *definition) version(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) (*resource, error) {
	names, same := crd.Spec.Names, func(obj runtime.Object) runtime.Object { return obj }
	res := &resource{
		group: crd.Spec.Group, version: v.Name, name: names.Plural, kind: names.Kind, singularName: names.Singular, listKind: names.ListKind,
		short: names.ShortNames, categories: names.Categories, clusterScoped: d.base.clusterScoped,
		generation: true, needsRV: true, custom: &custom{}, view: &view{of: d.base, show: same, unshow: same},
	}
	res.apiVersion = res.groupVersion().String()
	res.custom.selectable = selectablePaths(v)
	var err error
	if res.custom.structural, err = structuralOf(v.Schema); err != nil {
		return nil, err
	}
	if v.Subresources != nil {
		res.status = v.Subresources.Status != nil
		if v.Subresources.Scale != nil {
			res.custom.scale = newScalePaths(v.Subresources.Scale)
		}
	}
	res.validate = validateCustom(res)
	res.printer, err = customPrinter(res, v.AdditionalPrinterColumns)
	return res, err
}

// structuralOf is the schema of a version; nil if it keeps unknown fields from
// its root on, and so says nothing.
func structuralOf(v *apiextensionsv1.CustomResourceValidation) (*structuralschema.Structural, error) {
	if v == nil || v.OpenAPIV3Schema == nil {
		return nil, nil
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(&internal)
}

func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}
