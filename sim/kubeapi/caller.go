package kubeapi

import (
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Warn adds a Warning header.
func (r *request) Warn(text string) { r.warnings.add(text) }

func (r *request) Report(err error) { r.server.reportError(r.Request, err) }

func (r *request) Options(operation admissionv1.Operation, dryRun bool) runtime.Object {
	meta := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "meta.k8s.io/v1"} }
	var dry []string
	if dryRun {
		dry = []string{metav1.DryRunAll}
	}
	manager, validation := r.query.Get("fieldManager"), r.query.Get("fieldValidation")
	switch {
	case operation == admissionv1.Create:
		return &metav1.CreateOptions{TypeMeta: meta("CreateOptions"), DryRun: dry, FieldManager: manager, FieldValidation: validation}
	case operation == admissionv1.Delete:
		opts := metav1.DeleteOptions{}
		if r.deleteOptions != nil {
			opts = *r.deleteOptions
		}
		opts.TypeMeta = meta("DeleteOptions")
		return &opts
	}
	return &metav1.UpdateOptions{TypeMeta: meta("UpdateOptions"), DryRun: dry, FieldManager: manager, FieldValidation: validation}
}
