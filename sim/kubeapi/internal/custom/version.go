package custom

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func init() {
	if err := apiextensionsv1.AddToScheme(scheme.Scheme); err != nil {
		panic(fmt.Sprintf("kubeapi: registering CustomResourceDefinition: %v", err))
	}
}

// Base builds the row that the objects of a definition are stored as.
func Base(crd *apiextensionsv1.CustomResourceDefinition) *resource.Resource {
	return &resource.Resource{Group: crd.Spec.Group, Version: storageVersion(crd), Name: crd.Spec.Names.Plural, Kind: crd.Spec.Names.Kind,
		ClusterScoped: crd.Spec.Scope == apiextensionsv1.ClusterScoped, Custom: &resource.Custom{}}
}

// Version builds the row of one version of a definition, whose objects are stored as base.
func Version(base *resource.Resource, crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) (*resource.Resource, error) {
	names, same := crd.Spec.Names, func(obj runtime.Object) runtime.Object { return obj }
	res := &resource.Resource{
		Group: crd.Spec.Group, Version: v.Name, Name: names.Plural, Kind: names.Kind, SingularName: names.Singular, ListKind: names.ListKind,
		Short: names.ShortNames, Categories: names.Categories, ClusterScoped: base.ClusterScoped,
		Generation: true, NeedsVersion: true, Custom: &resource.Custom{}, View: &resource.View{Of: base, FromStored: same, ToStored: same},
	}
	res.APIVersion = res.GroupVersion().String()
	res.Custom.Selectable = selectablePaths(v)
	var err error
	if res.Custom.Structural, err = structuralOf(v.Schema); err != nil {
		return nil, err
	}
	if v.Subresources != nil {
		res.Status = v.Subresources.Status != nil
		if v.Subresources.Scale != nil {
			res.Custom.Scale = resource.NewScalePaths(v.Subresources.Scale)
		}
	}
	res.Validate = validateCustom(res)
	res.Printer, err = customPrinter(res, v.AdditionalPrinterColumns)
	return res, err
}

// structuralOf returns the schema of a version, or nil if it preserves unknown fields at its root
// and so accepts any content.
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
