package custom

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// approvals holds the status and the reason of the condition for each state of an approval.
var approvals = map[apihelpers.APIApprovalState]struct {
	status apiextensionsv1.ConditionStatus
	reason string
}{
	apihelpers.APIApproved:         {apiextensionsv1.ConditionTrue, "ApprovedAnnotation"},
	apihelpers.APIApprovalBypassed: {apiextensionsv1.ConditionFalse, "UnapprovedAnnotation"},
	apihelpers.APIApprovalInvalid:  {apiextensionsv1.ConditionFalse, "InvalidAnnotation"},
	apihelpers.APIApprovalMissing:  {apiextensionsv1.ConditionFalse, "MissingAnnotation"},
}

// noteApproval sets the condition of a definition in a group of Kubernetes, such as *.k8s.io, as
// kube-apiserver's approval controller does.
func noteApproval(crd *apiextensionsv1.CustomResourceDefinition) {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return
	}
	state, message := apihelpers.GetAPIApprovalState(crd.Annotations)
	is := approvals[state]
	SetCondition(crd, apiextensionsv1.KubernetesAPIApprovalPolicyConformant, is.status, is.reason, message)
}

// validateApproval requires the annotation api-approved.kubernetes.io on definitions in groups of
// Kubernetes. An update that does not change the state of the approval is valid.
func validateApproval(crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return nil
	}
	state, reason := apihelpers.GetAPIApprovalState(crd.Annotations)
	if old != nil {
		if before, _ := apihelpers.GetAPIApprovalState(old.Annotations); before == state {
			return nil
		}
	}
	const name = apiextensionsv1.KubeAPIApprovedAnnotation
	path := field.NewPath("metadata", "annotations").Key(name)
	switch state {
	case apihelpers.APIApproved, apihelpers.APIApprovalBypassed:
		return nil
	case apihelpers.APIApprovalMissing:
		return field.ErrorList{field.Required(path, reason)}
	}
	return field.ErrorList{field.Invalid(path, crd.Annotations[name], reason)}
}
