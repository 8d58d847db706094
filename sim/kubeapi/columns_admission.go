package kubeapi

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

var mutatingWebhookPrinter = print("Name #Webhooks Age", func(c *admissionregistrationv1.MutatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, len(c.Webhooks), age(c, now)}
})

var validatingWebhookPrinter = print("Name #Webhooks Age", func(c *admissionregistrationv1.ValidatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, len(c.Webhooks), age(c, now)}
})
