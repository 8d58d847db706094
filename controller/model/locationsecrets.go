package model

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

const authFolder = "/etc/ingress-controller/auth/"

// locationSecrets contains the data from Secrets for the locations of an ingress.
type locationSecrets struct {
	proxySSL ProxySSL
	auth     annotations.BasicDigestAuth
	denied   *string
}

// addLocationSecrets adds passwords for basic authentication and certificates for TLS to pods. If a
// Secret cannot be used, the locations of its ingress are denied, because ignoring either would
// reduce protection.
func (b *builder) addLocationSecrets() {
	of := make(map[types.NamespacedName]locationSecrets)
	for _, ingress := range b.Ingresses {
		all := b.locationSecrets(ingress)
		of[snapshot.NameOf(ingress)] = all
		for _, host := range hosts(ingress) {
			if server := b.servers[host]; server != nil && !b.options.Config.ProxySSLLocationOnly {
				server.takeProxySSL(all.proxySSL)
			}
		}
	}
	for _, server := range b.servers {
		for _, location := range server.Locations {
			if location.Ingress == nil {
				continue
			}
			all := of[location.owner()]
			location.ProxySSL, location.BasicDigestAuth = all.proxySSL, all.auth
			location.Denied = cmp.Or(location.Denied, all.denied)
		}
	}
}

// takeProxySSL configures how nginx connects to the pods of a host. The oldest ingress with CA
// certificates decides, even if it is a canary; if no ingress has any, the oldest one with a client
// certificate does.
func (s *Server) takeProxySSL(offered ProxySSL) {
	if s.ProxySSL.Secret == "" || s.ProxySSL.CAFileName == "" && offered.CAFileName != "" {
		s.ProxySSL = offered
	}
}

func (b *builder) locationSecrets(ingress *networkingv1.Ingress) locationSecrets {
	set := b.annotations(ingress)
	all := locationSecrets{auth: set.BasicDigestAuth}
	deny := func(key string, err error) {
		b.find(ingress, b.annotationKey(key), "%v; its requests get 503", err)
		if all.denied == nil {
			all.denied = new(err.Error())
		}
	}
	if set.ProxySSL.Secret != "" {
		var err error
		if all.proxySSL, err = b.proxySSL(set.ProxySSL); err != nil {
			deny("proxy-ssl-secret", err)
		}
	}
	if set.BasicDigestAuth.Secret != "" {
		if err := b.passwords(ingress, &all.auth); err != nil {
			deny("auth-secret", err)
		}
	}
	return all
}

// proxySSL returns the CA certificates that verify pods, and the client certificate for pods.
// Either may be missing.
func (b *builder) proxySSL(asked annotations.ProxySSL) (ProxySSL, error) {
	name := parseName(asked.Secret)
	secret, err := b.secret(name)
	switch {
	case err != nil:
	case len(secret.Problems) > 0:
		err = secret.Problems[0]
	case secret.Pair != nil && !strings.Contains(asked.Ciphers, "@SECLEVEL=") && secret.Pair.Weak() != nil:
		err = secret.Pair.Weak()
	case secret.CA == nil && asked.Verify == "on":
		err = fmt.Errorf("proxy-ssl-verify is on: %w", secret.lacks(tls.AuthorityKey))
	case secret.CA == nil && secret.Pair == nil:
		err = secret.lacks(tls.AuthorityKey, tls.CertificateKey)
	}
	if err != nil {
		return ProxySSL{}, fmt.Errorf("Secret %s: %w", name, err)
	}
	proxy := ProxySSL{ProxySSL: asked}
	if secret.CA != nil {
		proxy.CAFileName = b.file(sslFolder+fileName("ca", name), secret.CA.PEM)
		proxy.CASHA = secret.CA.SHA
	}
	if secret.Revocations != nil && b.options.ForeignTemplate {
		proxy.CRLFileName = b.file(sslFolder+fileName("crl", name), secret.Revocations.PEM)
		proxy.CRLSHA = secret.Revocations.SHA
	}
	if secret.Pair != nil {
		proxy.PemFileName = b.file(sslFolder+fileName("", name), []byte(secret.Pair.PEM))
	}
	return proxy, nil
}

// passwords adds the file with user names and hashed passwords.
func (b *builder) passwords(ingress *networkingv1.Ingress, auth *annotations.BasicDigestAuth) error {
	name := parseName(auth.Secret)
	secret, err := b.secret(name)
	if err != nil {
		return fmt.Errorf("Secret %s: %w", name, err)
	}
	var content []byte
	if auth.SecretType == "auth-map" {
		content = passwordFile(secret.Data)
	} else if content = secret.Data[tls.PasswordsKey]; len(content) == 0 {
		return fmt.Errorf("Secret %s: it has no key %s", name, tls.PasswordsKey)
	}
	sum := sha1.Sum(content)
	file := fmt.Sprintf("%s-%s-%s", ingress.Namespace, ingress.UID, secret.UID)
	if ingress.UID == "" || secret.UID == "" || !uidChars.MatchString(string(secret.UID)) { // objects from manifest files
		file = fmt.Sprintf("%s_%s_%s", ingress.Namespace, ingress.Name, secret.Secret.Name)
	}
	auth.File = b.file(authFolder+short(file)+".passwd", content)
	auth.FileSHA = hex.EncodeToString(sum[:])
	auth.Secured = true
	return nil
}

// passwordFile returns nginx's password file for a Secret with one key per user.
func passwordFile(users map[string][]byte) []byte {
	var file bytes.Buffer
	for _, user := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&file, "%s:%s\n", user, bytes.TrimSpace(users[user]))
	}
	return file.Bytes()
}
