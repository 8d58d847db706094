package clusters

import (
	"crypto/x509"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// mistake is a user's mistake, which one application out of brokenEvery has.
type mistake struct {
	Name string // as docs/corpus.md lists it
	// make makes it, and returns the field of the ingress that the controller reports, or "" for the
	// whole ingress.
	make func(*application) string
}

var mistakes = []mistake{
	{"a service that does not exist", func(a *application) string {
		a.onlyOnePath()
		a.firstPath().Backend.Service.Name = "gone"
		return firstPathKey
	}},
	{"a port that the service does not have", func(a *application) string {
		a.onlyOnePath()
		a.firstPath().Backend.Service.Port = networkingv1.ServiceBackendPort{Name: "metrics"}
		return firstPathKey
	}},
	{"a certificate that does not exist", func(a *application) string {
		a.tlsWith("missing-tls")
		return "spec.tls[0].secretName"
	}},
	{"a certificate for another host", func(a *application) string {
		a.tlsWith(a.name + "-tls")
		a.g.addCertificate(a.namespace, a.name+"-tls", "other."+a.host)
		return "spec.tls[0].secretName"
	}},
	{"a certificate with the key of another", func(a *application) string {
		a.tlsWith(a.name + "-tls")
		secret := a.g.addCertificate(a.namespace, a.name+"-tls", a.host)
		other := a.g.certificate("another certificate of "+a.host, &x509.Certificate{})
		secret.Data[corev1.TLSPrivateKeyKey] = other.Key
		return "spec.tls[0].secretName"
	}},
	{"a Secret that is not a certificate", func(a *application) string {
		a.tlsWith(a.name + "-tls")
		a.g.add(newSecret(a.namespace, a.name+"-tls", corev1.SecretTypeTLS, map[string][]byte{
			corev1.TLSCertKey: []byte("TODO\n"), corev1.TLSPrivateKeyKey: []byte("TODO\n"),
		}))
		return "spec.tls[0].secretName"
	}},
	{"a value with a unit", wrongValue("proxy-read-timeout", "60s")},
	{"a misspelt annotation", wrongValue("proxy-body-sise", "8m")},
	{"a value that rejects the ingress", func(a *application) string {
		a.set("limit-rps", "many")
		return ""
	}},
	{"passwords that do not exist", func(a *application) string {
		a.set("auth-type", "basic")
		a.set("auth-secret", "missing-users")
		return "metadata.annotations[" + prefix + "auth-secret]"
	}},
	{"client certificates without an authority", func(a *application) string {
		a.set("auth-tls-secret", a.namespace+"/missing-authority")
		return "metadata.annotations[" + prefix + "auth-tls-secret]"
	}},
	{"a header that is not allowed", func(a *application) string {
		name := a.name + "-headers"
		a.set("custom-headers", a.namespace+"/"+name)
		a.g.add(newConfigMap(a.namespace, name, map[string]string{"X-Forbidden": "1"}))
		return "metadata.annotations[" + prefix + "custom-headers]"
	}},
	{"a canary without the ingress that it is for", func(a *application) string {
		a.onlyOnePath()
		a.set("canary", "true")
		a.set("canary-weight", "10")
		return firstPathKey
	}},
	{"a path that the ingress has already", func(a *application) string {
		a.onlyOnePath()
		rule := a.ingress.Spec.Rules[0].HTTP
		rule.Paths = append(rule.Paths, rule.Paths[0])
		return "spec.rules[0].http.paths[1]"
	}},
	{"a regular expression that does not compile", func(a *application) string {
		a.onlyOnePath()
		a.set("use-regex", "true")
		a.firstPath().Path, a.firstPath().PathType = "/api/(v1", new(networkingv1.PathTypeImplementationSpecific)
		return "metadata.annotations[" + prefix + "use-regex]"
	}},
}

const firstPathKey = "spec.rules[0].http.paths[0]"

// wrongValue returns a mistake in the value, or the name, of an annotation.
func wrongValue(name, value string) func(*application) string {
	return func(a *application) string {
		a.set(name, value)
		return "metadata.annotations[" + prefix + name + "]"
	}
}

// onlyOnePath removes all paths of an ingress but the first.
func (a *application) onlyOnePath() {
	rule := a.ingress.Spec.Rules[0].HTTP
	rule.Paths = rule.Paths[:1]
}

func (a *application) firstPath() *networkingv1.HTTPIngressPath {
	return &a.ingress.Spec.Rules[0].HTTP.Paths[0]
}

// tlsWith gives the ingress the certificate in a Secret.
func (a *application) tlsWith(secret string) {
	a.ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{a.host}, SecretName: secret}}
}
