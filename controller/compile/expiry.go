package compile

import (
	"fmt"
	"time"

	"windtunnel.dev/controller/model"
)

// expiryNotice is how long before its expiry a certificate becomes a finding, as in ingress-nginx.
const expiryNotice = 240 * time.Hour

// expiry finds expiring certificates in a sequence of models.
type expiry struct {
	model *model.Model
	found []model.Finding
	until time.Time // when the findings change next
}

// findings returns findings about the certificates of a model, and whether they are the same as
// before. A zero now omits them.
func (e *expiry) findings(m *model.Model, now time.Time) (found []model.Finding, same bool) {
	if now.IsZero() {
		same = e.found == nil
		*e = expiry{}
		return nil, same
	}
	if m.SameButEndpoints(e.model) && now.Before(e.until) {
		return e.found, true
	}
	*e = expiry{m, expiring(m, now), nextNotice(m, now)}
	return e.found, false
}

// nextNotice returns the time at which the findings change next, or a distant time if they never
// do.
func nextNotice(m *model.Model, now time.Time) time.Time {
	next := time.Unix(1<<40, 0)
	for _, server := range m.Servers {
		if certificate := server.SSLCert; certificate != nil && certificate.Name != "" {
			for _, at := range []time.Time{certificate.ExpireTime.Add(-expiryNotice), certificate.ExpireTime} {
				if at.After(now) && at.Before(next) {
					next = at
				}
			}
		}
	}
	return next
}

// expiring returns findings about certificates that have expired or will expire soon.
func expiring(m *model.Model, now time.Time) []model.Finding {
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
