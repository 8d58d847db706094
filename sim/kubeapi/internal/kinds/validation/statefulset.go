package validation

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func StatefulSet(ss, old *appsv1.StatefulSet, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&ss.Spec, &old.Spec) {
		return nil
	}
	spec, at := &ss.Spec, field.NewPath("spec")
	if p := spec.PodManagementPolicy; p != appsv1.OrderedReadyPodManagement && p != appsv1.ParallelPodManagement {
		problems = append(problems, field.Invalid(at.Child("podManagementPolicy"), p, "must be 'OrderedReady' or 'Parallel'"))
	}
	problems = append(problems, validateStatefulSetStrategy(&spec.UpdateStrategy, at.Child("updateStrategy"))...)
	problems = append(problems, validateRetention(spec.PersistentVolumeClaimRetentionPolicy, at.Child("persistentVolumeClaimRetentionPolicy"))...)
	problems = append(problems, notNegative(at.Child("replicas"), spec.Replicas)...)
	problems = append(problems, notNegative(at.Child("minReadySeconds"), &spec.MinReadySeconds)...)
	if spec.Ordinals != nil {
		problems = append(problems, notNegative(at.Child("ordinals.start"), &spec.Ordinals.Start)...)
	}
	if old == nil {
		problems = append(problems, dnsLabel(at.Child("serviceName"), spec.ServiceName)...)
	}
	problems = append(problems, validateStatefulSelection(spec, at)...)
	if old != nil && !onlyChanges(spec, &old.Spec) {
		problems = append(problems, field.Forbidden(at, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "+
			"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))
	}
	return problems
}

func validateRetention(policy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy, path *field.Path) (problems field.ErrorList) {
	known := []appsv1.PersistentVolumeClaimRetentionPolicyType{appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	problems = append(problems, oneOf(path.Child("whenDeleted"), policy.WhenDeleted, known...)...)
	return append(problems, oneOf(path.Child("whenScaled"), policy.WhenScaled, known...)...)
}

func validateStatefulSelection(spec *appsv1.StatefulSetSpec, at *field.Path) (problems field.ErrorList) {
	problems = append(problems, validateNeededSelector(spec.Selector, at.Child("selector"), "empty selector is invalid for statefulset")...)
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err != nil {
		return append(problems, field.Invalid(at.Child("selector"), spec.Selector, ""))
	}
	template := spec.Template.DeepCopy()
	template.Spec.Subdomain, template.Spec.Hostname = "", "" // the controller sets them
	for _, claim := range spec.VolumeClaimTemplates {        // the pods have a volume for each claim
		template.Spec.Volumes = append(withoutVolume(template.Spec.Volumes, claim.Name), corev1.Volume{Name: claim.Name})
	}
	problems = append(problems, mustMatch(selector, template, at.Child("template"))...)
	return append(problems, validateLasting(template, at.Child("template"), "StatefulSet")...)
}

func withoutVolume(volumes []corev1.Volume, name string) (others []corev1.Volume) {
	for _, volume := range volumes {
		if volume.Name != name {
			others = append(others, volume)
		}
	}
	return others
}

// onlyChanges reports whether an update changes only the fields that may change.
func onlyChanges(is, was *appsv1.StatefulSetSpec) bool {
	munged := is.DeepCopy()
	munged.Replicas, munged.Template, munged.UpdateStrategy = was.Replicas, was.Template, was.UpdateStrategy
	munged.MinReadySeconds, munged.Ordinals, munged.RevisionHistoryLimit = was.MinReadySeconds, was.Ordinals, was.RevisionHistoryLimit
	munged.PersistentVolumeClaimRetentionPolicy = was.PersistentVolumeClaimRetentionPolicy
	return unchanged(munged, was)
}
