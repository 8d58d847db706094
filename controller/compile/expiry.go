package compile

import (
	"fmt"
	"time"

	"windtunnel.dev/controller/model"
)

// expiryNotice is how long before its expiry a certificate becomes a finding, as in ingress-nginx.
const expiryNotice = 240 * time.Hour

// expiring returns findings about certificates that have expired or will expire soon.
func expiring(m *model.Model, now time.Time) []model.Finding {
	if now.IsZero() {
		return nil
	}
	var findings []model.Finding
	seen := make(map[string]bool)
	for _, server := range m.Servers {
		certificate := server.SSLCert
		if certificate == nil || certificate.Name == "" || seen[certificate.UID] {
			continue
		}
		seen[certificate.UID] = true
		left := certificate.ExpireTime.Sub(now)
		if left >= expiryNotice {
			continue
		}
		at := certificate.ExpireTime.UTC().Format(time.RFC3339)
		reason := fmt.Sprintf("the certificate expires in less than 10 days, at %s", at)
		if left <= 0 {
			reason = fmt.Sprintf("the certificate expired at %s; it is served anyway", at)
		}
		findings = append(findings, model.Finding{Object: "Secret " + certificate.Namespace + "/" + certificate.Name, Key: "tls.crt", Reason: reason})
	}
	return findings
}
