// Package webhook makes what a controller and an API server need for a validating webhook: a
// certificate with its key, and the registration. Its one rule: it writes no files and sends no
// requests.
package webhook

import (
	"crypto/x509"
	"net"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/pki"
)

// Webhook is the certificate of a webhook on an address of this machine.
type Webhook struct {
	Certificate, Key []byte // PEM, for the controller
	authority        []byte // PEM, for the API server
}

// New returns a webhook with a new certificate for an IP address.
func New(address string) Webhook {
	authority := pki.New("webhook")
	pair := authority.Issue("webhook", nil, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.ParseIP(address)} })
	return Webhook{Certificate: pair.Certificate, Key: pair.Key, authority: authority.PEM}
}

// Registration returns the registration of the webhook at an HTTPS URL, as in ingress-nginx's chart: it
// reviews ingresses that are created or updated, and a write fails if the webhook does.
func (w Webhook) Registration(url string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "ingress-nginx-admission"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "validate.nginx.ingress.kubernetes.io",
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: w.authority},
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"ingresses"}},
			}},
		}},
	}
}
