package run

import (
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/pki"
	"windtunnel.dev/internal/port"
)

// webhookFlag is the flag with the address of the controller's webhook. Of a case's address, only
// that there is one matters.
const webhookFlag = "validating-webhook"

// withWebhook completes the flags of a controller that has a webhook: with a free port of this
// machine, and the files of a new certificate, in dir. It returns the webhook's registration, or nil
// if the flags ask for none.
func withWebhook(flags map[string]string, dir string) (map[string]string, *admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	if flags[webhookFlag] == "" {
		return flags, nil, nil
	}
	number, err := port.Free(1)
	if err != nil {
		return nil, nil, err
	}
	authority := pki.New("webhook")
	pair := authority.Issue("webhook", nil, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.ParseIP(loopback)} })
	files := map[string]string{}
	for name, content := range map[string][]byte{"certificate": pair.Certificate, "key": pair.Key} {
		if files[name], err = filepath.Abs(filepath.Join(dir, "webhook-"+name+".pem")); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(files[name], content, 0o600); err != nil {
			return nil, nil, err
		}
	}
	address := fmt.Sprintf("%s:%d", loopback, number)
	flags = maps.Clone(flags)
	flags[webhookFlag], flags[webhookFlag+"-certificate"], flags[webhookFlag+"-key"] = address, files["certificate"], files["key"]
	return flags, registration("https://"+address+"/networking/v1/ingresses", authority.PEM), nil
}

// registration returns the registration of a webhook for ingresses, as in ingress-nginx's chart.
func registration(url string, ca []byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "ingress-nginx-admission"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "validate.nginx.ingress.kubernetes.io",
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: ca},
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"ingresses"}},
			}},
		}},
	}
}
