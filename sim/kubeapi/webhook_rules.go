package kubeapi

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func defaultValidatingWebhooks(c, _ *admissionregistrationv1.ValidatingWebhookConfiguration, _ *Server) {
	for i := range c.Webhooks {
		h := &c.Webhooks[i]
		defaultWebhook(&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds, h.ClientConfig, h.Rules)
	}
}

func defaultMutatingWebhooks(c, _ *admissionregistrationv1.MutatingWebhookConfiguration, _ *Server) {
	for i := range c.Webhooks {
		h := &c.Webhooks[i]
		defaultWebhook(&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds, h.ClientConfig, h.Rules)
		if h.ReinvocationPolicy == nil {
			never := admissionregistrationv1.NeverReinvocationPolicy
			h.ReinvocationPolicy = &never
		}
	}
}

func defaultWebhook(failure **admissionregistrationv1.FailurePolicyType, match **admissionregistrationv1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector, timeout **int32, client admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
	setMissing(failure, admissionregistrationv1.Fail)
	setMissing(match, admissionregistrationv1.Equivalent)
	setMissing(namespaces, metav1.LabelSelector{})
	setMissing(objects, metav1.LabelSelector{})
	setMissing(timeout, 10)
	if client.Service != nil {
		setMissing(&client.Service.Port, 443)
	}
	for i := range rules {
		setMissing(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}

func setMissing[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func validateValidatingWebhooks(c, _ *admissionregistrationv1.ValidatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(validatingHooks(c))
}

func validateMutatingWebhooks(c, _ *admissionregistrationv1.MutatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(mutatingHooks(c))
}

func validateWebhooks(hooks []webhook) (problems field.ErrorList) {
	for i, h := range hooks {
		at := field.NewPath("webhooks").Index(i)
		if h.Name == "" {
			problems = append(problems, field.Required(at.Child("name"), ""))
		}
		if (h.ClientConfig.URL == nil) == (h.ClientConfig.Service == nil) {
			problems = append(problems, field.Required(at.Child("clientConfig"), "exactly one of url or service is required"))
		}
		if h.SideEffects == nil {
			problems = append(problems, field.Required(at.Child("sideEffects"), "must specify one of None, NoneOnDryRun"))
		}
		if !slices.Contains(h.AdmissionReviewVersions, "v1") {
			problems = append(problems, field.Invalid(at.Child("admissionReviewVersions"), h.AdmissionReviewVersions, "must include at least one of v1"))
		}
		if h.TimeoutSeconds != nil && (*h.TimeoutSeconds < 1 || *h.TimeoutSeconds > 30) {
			problems = append(problems, field.Invalid(at.Child("timeoutSeconds"), *h.TimeoutSeconds, "the timeout value must be between 1 and 30 seconds"))
		}
		options := metav1validation.LabelSelectorValidationOptions{}
		problems = append(problems, metav1validation.ValidateLabelSelector(h.NamespaceSelector, options, at.Child("namespaceSelector"))...)
		problems = append(problems, metav1validation.ValidateLabelSelector(h.ObjectSelector, options, at.Child("objectSelector"))...)
	}
	return problems
}
