package clusters

import (
	"crypto/sha1"
	"encoding/base64"

	corev1 "k8s.io/api/core/v1"
)

func crossOrigin(a *application) {
	a.set("enable-cors", "true")
	if percent(a.chance, 60) {
		a.set("cors-allow-origin", oneOf(a.chance, "*", "https://app.example.com", "https://*.example.com, https://partner.example.org"))
	}
	if percent(a.chance, 40) {
		a.set("cors-allow-methods", oneOf(a.chance, "GET, POST, OPTIONS", "GET, PUT, POST, DELETE, PATCH, OPTIONS"))
	}
	if percent(a.chance, 40) {
		a.set("cors-allow-headers", "Authorization,Content-Type,X-Requested-With")
	}
	if percent(a.chance, 15) {
		a.set("cors-allow-credentials", "false")
	}
	if percent(a.chance, 20) {
		a.set("cors-max-age", "600")
	}
}

func externalAuth(a *application) {
	a.set("auth-url", oneOf(a.chance, "http://oauth2-proxy.platform.svc.cluster.local:4180/oauth2/auth", "https://sso.example.com/verify"))
	if percent(a.chance, 70) {
		a.set("auth-signin", "https://sso.example.com/start?rd=$escaped_request_uri")
	}
	if percent(a.chance, 60) {
		a.set("auth-response-headers", "X-Auth-Request-User,X-Auth-Request-Email")
	}
	if percent(a.chance, 20) {
		a.set("auth-cache-key", "$cookie_session")
		a.set("auth-cache-duration", "200 202 5m, 401 1m")
	}
	if percent(a.chance, 20) {
		a.set("auth-proxy-set-headers", a.namespace+"/"+a.name+"-auth-headers")
		a.g.add(newConfigMap(a.namespace, a.name+"-auth-headers", map[string]string{"X-Team": a.namespace}))
	}
}

// passwordHash is the hash of a password, as nginx reads it.
func passwordHash(password string) string {
	sum := sha1.Sum([]byte(password))
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}

func passwords(a *application) {
	a.set("auth-type", "basic")
	a.set("auth-realm", "Authentication required")
	name := a.name + "-users"
	a.set("auth-secret", name)
	data := map[string][]byte{"auth": []byte("alice:" + passwordHash("alice") + "\nbob:" + passwordHash("bob") + "\n")}
	if percent(a.chance, 25) {
		a.set("auth-secret-type", "auth-map")
		data = map[string][]byte{"alice": []byte(passwordHash("alice")), "bob": []byte(passwordHash("bob"))}
	}
	a.g.add(newSecret(a.namespace, name, corev1.SecretTypeOpaque, data))
}

func clientCertificates(a *application) {
	name := a.name + "-clients"
	a.set("auth-tls-secret", a.namespace+"/"+name)
	a.set("auth-tls-verify-client", oneOf(a.chance, "on", "optional"))
	a.set("auth-tls-verify-depth", oneOf(a.chance, "1", "2"))
	if percent(a.chance, 40) {
		a.set("auth-tls-pass-certificate-to-upstream", "true")
	}
	a.g.add(newSecret(a.namespace, name, corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": a.g.authority(a.host)}))
}

func proxySSL(a *application) {
	name := a.name + "-pods"
	a.set("proxy-ssl-secret", a.namespace+"/"+name)
	if percent(a.chance, 50) {
		a.set("proxy-ssl-verify", "on")
		a.set("proxy-ssl-name", a.name+"."+a.namespace+".svc")
		a.set("proxy-ssl-server-name", "on")
	}
	secret := a.g.addCertificate(a.namespace, name, "ingress-nginx.ingress-nginx.svc")
	secret.Data["ca.crt"] = a.g.authority(a.name + "." + a.namespace + ".svc")
}

func sourceRanges(a *application) {
	if percent(a.chance, 25) {
		a.set("denylist-source-range", "203.0.113.0/24")
		return
	}
	a.set("whitelist-source-range", oneOf(a.chance, "10.0.0.0/8", "10.0.0.0/8,192.168.0.0/16", "198.51.100.7,198.51.100.8/31,2001:db8::/32"))
}

func fastCGI(a *application) {
	a.set("backend-protocol", "FCGI")
	a.set("fastcgi-index", "index.php")
	a.set("fastcgi-params-configmap", a.name+"-fastcgi")
	a.g.add(newConfigMap(a.namespace, a.name+"-fastcgi", map[string]string{"SCRIPT_FILENAME": "/srv/public/index.php"}))
}

func customHeaders(a *application) {
	a.set("custom-headers", a.namespace+"/"+a.name+"-headers")
	a.g.add(newConfigMap(a.namespace, a.name+"-headers", map[string]string{"X-Frame-Options": "SAMEORIGIN", "X-Robots-Tag": "noindex"}))
}

// customErrors replaces answers with some statuses by those of a default backend.
func customErrors(a *application) {
	a.set("custom-http-errors", oneOf(a.chance, "404", "502,503,504", "404,500,502,503"))
	if percent(a.chance, 60) {
		service := a.addService(a.name + "-errors")
		a.set("default-backend", service.Name)
	}
}
