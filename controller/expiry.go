package controller

import (
	"fmt"
	"time"

	"windtunnel.dev/controller/model"
)

// expiryNotice is how long before its end a certificate is told of, as in
// ingress-nginx.
const expiryNotice = 240 * time.Hour

// expiring are findings about the certificates that clients will soon refuse,
// or already do.
func expiring(m *model.Model, now time.Time) []model.Finding {
	var findings []model.Finding
	told := make(map[string]bool)
	for _, server := range m.Servers {
		certificate := server.SSLCert
		if certificate == nil || certificate.Name == "" || told[certificate.UID] {
			continue
		}
		told[certificate.UID] = true
		left := certificate.ExpireTime.Sub(now)
		if left >= expiryNotice {
			continue
		}
		at := certificate.ExpireTime.UTC().Format(time.RFC3339)
		reason := fmt.Sprintf("the certificate expires in less than 10 days, at %s", at)
		if left <= 0 {
			reason = fmt.Sprintf("the certificate has expired at %s; it is served all the same", at)
		}
		findings = append(findings, model.Finding{Object: "Secret " + certificate.Namespace + "/" + certificate.Name, Key: "tls.crt", Reason: reason})
	}
	return findings
}
