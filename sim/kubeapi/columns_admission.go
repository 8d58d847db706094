package kubeapi

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var definitionPrinter = print("Name Created_At", func(crd *apiextensionsv1.CustomResourceDefinition, _ time.Time) []any {
	return []any{crd.Name, created(crd)}
})

var mutatingWebhookPrinter = print("Name Webhooks Age", func(c *admissionregistrationv1.MutatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, len(c.Webhooks), age(c, now)}
})

var validatingWebhookPrinter = print("Name Webhooks Age", func(c *admissionregistrationv1.ValidatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, len(c.Webhooks), age(c, now)}
})
