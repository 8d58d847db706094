package validation

import (
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func ValidatingWebhooks(c, _ *admissionregistrationv1.ValidatingWebhookConfiguration, _ resource.Cluster) field.ErrorList {
	return validateWebhooks(c.Webhooks)
}

func MutatingWebhooks(c, _ *admissionregistrationv1.MutatingWebhookConfiguration, _ resource.Cluster) field.ErrorList {
	return validateWebhooks(AsValidating(c.Webhooks))
}

var (
	sideEffects = []admissionregistrationv1.SideEffectClass{admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun}
	operations  = []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll, admissionregistrationv1.Connect,
		admissionregistrationv1.Create, admissionregistrationv1.Delete, admissionregistrationv1.Update}
	reviewVersions = []string{"v1", "v1beta1"}
)

// AsValidating converts mutating webhooks to validating ones, which have the same fields as far as
// this server uses them.
func AsValidating(mutating []admissionregistrationv1.MutatingWebhook) []admissionregistrationv1.ValidatingWebhook {
	var hooks []admissionregistrationv1.ValidatingWebhook
	for _, h := range mutating {
		hooks = append(hooks, admissionregistrationv1.ValidatingWebhook{
			Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, MatchPolicy: h.MatchPolicy,
			NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, SideEffects: h.SideEffects,
			TimeoutSeconds: h.TimeoutSeconds, AdmissionReviewVersions: h.AdmissionReviewVersions,
		})
	}
	return hooks
}

// ReviewVersion returns the first of a webhook's review versions that the server supports, or an
// empty string. All versions have the same fields.
func ReviewVersion(accepted []string) string {
	for _, version := range accepted {
		if slices.Contains(reviewVersions, version) {
			return version
		}
	}
	return ""
}

func validateWebhooks(hooks []admissionregistrationv1.ValidatingWebhook) (problems field.ErrorList) {
	for i, h := range hooks {
		at := field.NewPath("webhooks").Index(i)
		problems = append(problems, validation.IsFullyQualifiedName(at.Child("name"), h.Name)...)
		for j, rule := range h.Rules {
			problems = append(problems, validateOperations(rule.Operations, at.Child("rules").Index(j).Child("operations"))...)
		}
		switch at := at.Child("sideEffects"); {
		case h.SideEffects == nil:
			problems = append(problems, field.Required(at, "must specify one of None, NoneOnDryRun"))
		case !slices.Contains(sideEffects, *h.SideEffects):
			problems = append(problems, field.NotSupported(at, *h.SideEffects, sideEffects))
		}
		problems = append(problems, validateClientConfig(h.ClientConfig, at.Child("clientConfig"))...)
		if ReviewVersion(h.AdmissionReviewVersions) == "" {
			problems = append(problems, field.Invalid(at.Child("admissionReviewVersions"), h.AdmissionReviewVersions,
				"must include at least one of "+strings.Join(reviewVersions, ", ")))
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

func validateOperations(asked []admissionregistrationv1.OperationType, at *field.Path) (problems field.ErrorList) {
	if len(asked) == 0 {
		problems = append(problems, field.Required(at, ""))
	}
	for i, operation := range asked {
		if !slices.Contains(operations, operation) {
			problems = append(problems, field.NotSupported(at.Index(i), operation, operations))
		}
	}
	return problems
}

func validateClientConfig(c admissionregistrationv1.WebhookClientConfig, at *field.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(at, "exactly one of url or service is required")}
	case c.URL != nil:
		return validateWebhookURL(*c.URL, at.Child("url"))
	}
	var problems field.ErrorList
	for name, value := range map[string]string{"name": c.Service.Name, "namespace": c.Service.Namespace} {
		if value == "" {
			problems = append(problems, field.Required(at.Child("service", name), "service "+name+" is required"))
		}
	}
	return problems
}

func validateWebhookURL(text string, at *field.Path) (problems field.ErrorList) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(at, "url must be a valid URL: "+err.Error()+form)}
	}
	complain := func(value any, problem string) { problems = append(problems, field.Invalid(at, value, problem+form)) }
	if u.Scheme != "https" {
		complain(u.Scheme, "'https' is the only allowed URL scheme")
	}
	if u.Host == "" {
		complain(u.Host, "host must be specified")
	}
	if u.User != nil {
		complain(u.User.String(), "user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		complain(u.Fragment, "fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		complain(u.RawQuery, "query parameters are not permitted in the URL")
	}
	return problems
}
