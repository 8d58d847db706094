// Package custom builds the resources of CustomResourceDefinitions: their schemas, rules, columns
// and selectable fields. It stands between a stored definition and the rows that the server serves
// for it. Its one rule: everything about a custom kind follows from its definition alone.
package custom

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Default sets the defaults of a CustomResourceDefinition.
func Default(crd, _ *apiextensionsv1.CustomResourceDefinition) {
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
}

// Prepare decides whether the names are accepted, and so served, and sets the status at once.
// kube-apiserver's controllers set it some moments after the definition is stored.
func Prepare(crd, old *apiextensionsv1.CustomResourceDefinition, in resource.Cluster) {
	if old == nil {
		crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	}
	if stored := storageVersion(crd); stored != "" && !slices.Contains(crd.Status.StoredVersions, stored) {
		crd.Status.StoredVersions = append(crd.Status.StoredVersions, stored)
	}
	noteApproval(crd)
	if IsTrue(crd, apiextensionsv1.Terminating) {
		return
	}
	if reason, message := nameConflict(in.Served(), crd); reason != "" {
		SetCondition(crd, apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionFalse, reason, message)
		if !IsTrue(crd, apiextensionsv1.Established) {
			SetCondition(crd, apiextensionsv1.Established, apiextensionsv1.ConditionFalse, "NotAccepted", "not all names are accepted")
		}
		return
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	SetCondition(crd, apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionTrue, "NoConflicts", "no conflicts found")
	SetCondition(crd, apiextensionsv1.Established, apiextensionsv1.ConditionTrue, "InitialNamesAccepted", "the initial names have been accepted")
}

// nameConflict returns the reason and the message of a conflict if another resource of the group already
// uses a name of the definition.
func nameConflict(served resource.Table, crd *apiextensionsv1.CustomResourceDefinition) (reason, message string) {
	names := crd.Spec.Names
	for _, res := range served {
		if res.Group != crd.Spec.Group || (res.Custom != nil && res.GroupResource().String() == crd.Name) {
			continue
		}
		used := append([]string{res.Name, res.Singular()}, res.Short...)
		switch {
		case slices.Contains(used, names.Plural):
			return "PluralConflict", fmt.Sprintf("%q is already in use", names.Plural)
		case slices.Contains(used, names.Singular):
			return "SingularConflict", fmt.Sprintf("%q is already in use", names.Singular)
		case names.Kind == res.Kind:
			return "KindConflict", fmt.Sprintf("%q is already in use", names.Kind)
		case names.ListKind == res.TypeMeta("List").Kind:
			return "ListKindConflict", fmt.Sprintf("%q is already in use", names.ListKind)
		}
		for _, short := range names.ShortNames {
			if slices.Contains(used, short) {
				return "ShortNamesConflict", fmt.Sprintf("%q is already in use", short)
			}
		}
	}
	return "", ""
}

func IsTrue(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == kind && c.Status == apiextensionsv1.ConditionTrue
	})
}

func SetCondition(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType,
	status apiextensionsv1.ConditionStatus, reason, message string) {
	is := apiextensionsv1.CustomResourceDefinitionCondition{Type: kind, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second))}
	i := slices.IndexFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool { return c.Type == kind })
	if i < 0 {
		crd.Status.Conditions = append(crd.Status.Conditions, is)
		return
	}
	if was := crd.Status.Conditions[i]; was.Status == status {
		is.LastTransitionTime = was.LastTransitionTime
	}
	crd.Status.Conditions[i] = is
}

func Validate(crd, old *apiextensionsv1.CustomResourceDefinition, _ resource.Cluster) (problems field.ErrorList) {
	spec, metadata := field.NewPath("spec"), field.NewPath("metadata")
	required := func(path *field.Path, value string) {
		if value == "" {
			problems = append(problems, field.Required(path, ""))
		}
	}
	required(spec.Child("group"), crd.Spec.Group)
	required(spec.Child("names", "plural"), crd.Spec.Names.Plural)
	required(spec.Child("names", "kind"), crd.Spec.Names.Kind)
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != want {
		problems = append(problems, field.Invalid(metadata.Child("name"), crd.Name, `must be spec.names.plural+"."+spec.group`))
	}
	if !slices.Contains([]apiextensionsv1.ResourceScope{apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped}, crd.Spec.Scope) {
		problems = append(problems, field.NotSupported(spec.Child("scope"), crd.Spec.Scope,
			[]apiextensionsv1.ResourceScope{apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped}))
	}
	if old != nil && IsTrue(old, apiextensionsv1.Established) {
		problems = append(problems, validation.ValidateImmutableField(crd.Spec.Scope, old.Spec.Scope, spec.Child("scope"))...)
		problems = append(problems, validation.ValidateImmutableField(crd.Spec.Names.Kind, old.Spec.Names.Kind, spec.Child("names", "kind"))...)
	}
	if crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter && len(crd.Spec.Versions) > 1 {
		// Refused instead of served wrongly: the simulated server does not convert between
		// versions.
		problems = append(problems, field.NotSupported(spec.Child("conversion", "strategy"), crd.Spec.Conversion.Strategy,
			[]apiextensionsv1.ConversionStrategyType{apiextensionsv1.NoneConverter}))
	}
	problems = append(problems, validateApproval(crd, old)...)
	problems = append(problems, validateVersions(crd, spec.Child("versions"))...)
	problems = append(problems, validateSelectable(crd, spec)...)
	if len(crd.Status.StoredVersions) == 0 {
		problems = append(problems, field.Invalid(field.NewPath("status", "storedVersions"), crd.Status.StoredVersions, "must have at least one stored version"))
	}
	return problems
}

func validateVersions(crd *apiextensionsv1.CustomResourceDefinition, path *field.Path) (problems field.ErrorList) {
	seen, stored := map[string]bool{}, 0
	for i, v := range crd.Spec.Versions {
		at := path.Index(i)
		if seen[v.Name] {
			problems = append(problems, field.Duplicate(at.Child("name"), v.Name))
		}
		seen[v.Name] = true
		if v.Storage {
			stored++
		}
		problems = append(problems, validateVersion(crd, &v, at)...)
	}
	if stored != 1 {
		problems = append(problems, field.Invalid(path, shownVersions(crd), "must have exactly one version marked as storage version"))
	}
	return problems
}

// shownVersions returns the versions as kube-apiserver's messages show them: in the internal form,
// without the parts that all versions share.
func shownVersions(crd *apiextensionsv1.CustomResourceDefinition) any {
	var internal apiextensions.CustomResourceDefinitionSpec
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec(crd.Spec.DeepCopy(), &internal, nil); err != nil {
		return crd.Spec.Versions
	}
	return internal.Versions
}

func validateVersion(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	schema := at.Child("schema", "openAPIV3Schema")
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		if crd.Spec.PreserveUnknownFields {
			return nil
		}
		return field.ErrorList{field.Required(schema, "")}
	}
	structural, err := structuralOf(v.Schema)
	if err != nil {
		return field.ErrorList{field.Invalid(schema, "", err.Error())}
	}
	problems := structuralschema.ValidateStructural(schema, structural)
	_, broken := rulesOf(structural, schema)
	problems = append(problems, broken...)
	for i, column := range v.AdditionalPrinterColumns {
		if _, err := parseJSONPath(column.Name, column.JSONPath); err != nil {
			problems = append(problems, field.Invalid(at.Child("additionalPrinterColumns").Index(i).Child("jsonPath"), column.JSONPath, err.Error()))
		}
	}
	return problems
}
