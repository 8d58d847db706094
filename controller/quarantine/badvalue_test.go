package quarantine

import (
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// closedWithout are the annotations of the table of protections whose bad value
// counts as none, and why that lets nobody in.
var closedWithout = map[string]string{
	"auth-signin":                    "clients that are not authenticated get 401",
	"auth-signin-redirect-param":     "as above; the name is that of a parameter",
	"auth-cache-key":                 "each request is asked about",
	"auth-keepalive-share-vars":      "the answer decides all the same",
	"auth-tls-verify-client":         "on: a certificate must be shown",
	"auth-tls-verify-depth":          "1: no authority in between",
	"satisfy":                        "all must let a client in",
	"ssl-passthrough":                "nginx decrypts, and whatever else is asked for holds",
	"enable-global-auth":             "true",
	"enable-cors":                    "false",
	"cors-allow-origin":              "bad origins are left out",
	"cors-allow-methods":             "none is allowed",
	"cors-allow-headers":             "none is allowed",
	"cors-allow-credentials":         "they are not allowed",
	"cors-expose-headers":            "none are shown",
	"disable-proxy-intercept-errors": "false: errors of pods are hidden",
	"mirror-target":                  "no copy is sent",
	"mirror-host":                    "the copy names its own host",
	"canary-by-header":               "no request of it",
	"canary-by-header-value":         "as above",
	"canary-by-header-pattern":       "as above",
	"canary-by-cookie":               "as above",
	"ssl-prefer-server-ciphers":      "the ciphers are the same",
	"proxy-ssl-name":                 "the pods' certificates must have another name, that of the backend",
	"proxy-ssl-verify-depth":         "1: no authority in between",
	"proxy-ssl-server-name":          "a name is not told",
	"proxy-ssl-protocols":            "TLS 1.2",
}

// Without what it protects by, a location must not be open: a bad value of each
// annotation of the table denies, keeps the earlier version, or counts as none
// where that is the stricter.
func TestABadValueNeverOpens(t *testing.T) {
	for _, unchecked := range []bool{false, true} {
		for _, p := range protections {
			for _, key := range p.keys {
				if p.inSnippet || key == "auth-snippet" || key == "modsecurity-snippet" {
					continue // no text of these is bad by itself
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
						t.Errorf("%s (%s): %q neither denies nor rejects (unchecked: %t), findings %v", key, p.name, bad, unchecked, findings)
					case !told:
						t.Errorf("%s (%s): %q: no finding (unchecked: %t)", key, p.name, bad, unchecked)
					}
				}
			}
		}
	}
}
