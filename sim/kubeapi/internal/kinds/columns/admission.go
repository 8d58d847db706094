package columns

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var MutatingWebhook = resource.NewPrinter("Name #Webhooks Age", func(c *admissionregistrationv1.MutatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, len(c.Webhooks), resource.Age(c, now)}
})

var ValidatingWebhook = resource.NewPrinter("Name #Webhooks Age", func(c *admissionregistrationv1.ValidatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, len(c.Webhooks), resource.Age(c, now)}
})
