package quarantine

import (
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// closedWithout lists the protecting annotations whose invalid values are ignored, with the reason
// why that admits no additional clients.
var closedWithout = map[string]string{
	"auth-signin":                    "clients that are not authenticated get 401",
	"auth-signin-redirect-param":     "as above; it is only the name of a parameter",
	"auth-cache-key":                 "the service is asked about each request",
	"auth-keepalive-share-vars":      "the response decides anyway",
	"auth-tls-verify-client":         "on: a certificate is required",
	"auth-tls-verify-depth":          "1: no intermediate CA",
	"satisfy":                        "all must admit the client",
	"ssl-passthrough":                "nginx terminates TLS, and the other protections apply",
	"enable-global-auth":             "true",
	"enable-cors":                    "false",
	"cors-allow-origin":              "invalid origins are left out",
	"cors-allow-methods":             "none is allowed",
	"cors-allow-headers":             "none is allowed",
	"cors-allow-credentials":         "they are not allowed",
	"cors-expose-headers":            "none are exposed",
	"disable-proxy-intercept-errors": "false: errors of pods are hidden",
	"mirror-target":                  "no request is mirrored",
	"mirror-host":                    "the mirrored request has the target's host",
	"canary-by-header":               "the canary gets no requests",
	"canary-by-header-value":         "as above",
	"canary-by-header-pattern":       "as above",
	"canary-by-cookie":               "as above",
	"temporal-redirect":              "the pods answer, as in ingress-nginx",
	"permanent-redirect":             "as above",
	"ssl-prefer-server-ciphers":      "the ciphers are the same",
	"proxy-ssl-name":                 "the pods' certificates must have another name, that of the backend",
	"proxy-ssl-verify-depth":         "1: no intermediate CA",
	"proxy-ssl-server-name":          "no name is sent",
	"proxy-ssl-protocols":            "TLS 1.2",
}

// A location must not lose its protection. An invalid value of a protecting annotation denies all
// requests, keeps the earlier version, or is ignored if that is stricter.
func TestInvalidValuesNeverWidenAccess(t *testing.T) {
	for _, unchecked := range []bool{false, true} {
		for _, p := range protections {
			for _, key := range p.keys {
				if p.Directives || key == "auth-snippet" || key == "modsecurity-snippet" {
					continue // any text is valid for these annotations
				}
				for _, bad := range []string{"nö;\n}", "%", "{;}"} {
					given := "auth-url: http://auth.example/|auth-type: basic|auth-secret: passwords|auth-tls-secret: demo/ca|" +
						"proxy-ssl-secret: demo/ca|enable-cors: true|mirror-target: http://a.example/|canary: true|canary-weight: 1"
					if !strings.HasPrefix(key, "canary") {
						given = strings.ReplaceAll(given, "|canary: true|canary-weight: 1", "")
					}
					ingress := asking("web", given)
					ingress.Annotations[annotations.DefaultPrefix+"/"+key] = bad
					set, findings, err := annotations.Parse(ingress, options.Options{Config: options.Defaults(1, false), SkipAnnotationValidation: unchecked})
					closed := err != nil || set.Denied != nil
					var told, ignored bool
					for _, finding := range findings {
						if strings.HasSuffix(finding.Key, "/"+key) {
							told, ignored = true, strings.HasSuffix(finding.Reason, "it is ignored")
						}
					}
					switch {
					case closed || unchecked && !ignored:
					case closedWithout[key] == "":
						t.Errorf("%s (%s): %q neither denies nor rejects (unchecked: %t), findings %v", key, p.Name, bad, unchecked, findings)
					case !told:
						t.Errorf("%s (%s): %q: no finding (unchecked: %t)", key, p.Name, bad, unchecked)
					}
				}
			}
		}
	}
}
