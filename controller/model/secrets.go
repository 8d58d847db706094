package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

// contents caches the parsed contents of Secrets. It is safe for concurrent use.
type contents struct {
	mu    sync.Mutex
	known map[*corev1.Secret]tls.Contents
}

func newContents() *contents { return &contents{known: make(map[*corev1.Secret]tls.Contents)} }

func (c *contents) of(object *corev1.Secret) tls.Contents {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, known := c.known[object]
	if !known {
		found = tls.Read(object)
		c.known[object] = found
	}
	return found
}

// keep drops the Secrets that are not in the cluster.
func (c *contents) keep(cluster snapshot.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.known, func(object *corev1.Secret, _ tls.Contents) bool {
		return cluster.Secrets[snapshot.NameOf(object)] != object
	})
}

// secret is a Secret with its parsed TLS contents.
type secret struct {
	*corev1.Secret
	tls.Contents
}

// addSecrets adds the data from Secrets to servers and locations. A bad Secret affects only the
// hosts and locations that use it.
func (b *builder) addSecrets() {
	b.files = make(map[string][]byte)
	if b.isCommon() {
		b.addDefaultCertificate()
		b.addDHParam()
		b.addTicketKey()
	}
	b.addCertificates()
	b.addClientAuth()
	b.addLocationSecrets()
	b.closeHosts()
	b.addPassthrough()
}

// secret returns the Secret of that name, or an error if it does not exist. Later changes of a
// Secret that was looked up trigger a sync.
func (b *builder) secret(name types.NamespacedName) (secret, error) {
	b.secrets[name] = true
	object := b.Secrets[name]
	if object == nil {
		return secret{}, errors.New("it does not exist")
	}
	return secret{object, b.contents.of(object)}, nil
}

// secretWithPair returns a Secret with a certificate that OpenSSL accepts. ciphers may lower the
// security level that OpenSSL enforces.
func (b *builder) secretWithPair(name types.NamespacedName, ciphers string) (secret, error) {
	s, err := b.secret(name)
	if err != nil {
		return secret{}, err
	}
	if s.Pair == nil {
		return secret{}, s.lacks(tls.CertificateKey, tls.PrivateKey)
	}
	if strings.Contains(ciphers, "@SECLEVEL=") {
		return s, nil
	}
	return s, s.Pair.Weak()
}

// lacks returns the error for missing keys of a Secret: the problem with one of the keys or, if
// there is none, that they are missing.
func (s secret) lacks(keys ...string) error {
	for _, problem := range s.Problems {
		for _, key := range keys {
			if strings.HasPrefix(problem.Error(), key) {
				return problem
			}
		}
	}
	return fmt.Errorf("it has no %s", strings.Join(keys, " and "))
}

func (s secret) name() types.NamespacedName { return snapshot.NameOf(s.Secret) }

// uid returns the UID of the Secret. A Secret from a manifest file may have none; then its name
// identifies it.
func (s secret) uid() string { return cmp.Or(string(s.UID), s.name().String()) }

func (s secret) certificate() SSLCert {
	certificate := SSLCert{Namespace: s.Namespace, Name: s.Secret.Name, UID: s.uid()}
	certificate.take(s.Pair)
	return certificate
}

// fileName returns the file name for a part of a Secret. Kubernetes names have no underscores, so
// two Secrets never share a file name.
func fileName(part string, name types.NamespacedName) string {
	if part != "" {
		part += "_"
	}
	return short(part+name.Namespace+"_"+name.Name) + ".pem"
}

// short returns a file name, without extension, that a file system accepts (NAME_MAX is 255 bytes).
// It replaces the end of a longer name with a hash of the whole name.
func short(name string) string {
	const longest = 200
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:longest-2*sha256.Size-1] + "-" + hex.EncodeToString(sum[:])
}

// file adds a file for nginx and returns its path.
func (b *builder) file(path string, content []byte) string {
	path = b.options.Path(path)
	b.files[path] = content
	return path
}

func tlsKey(i int) string { return fmt.Sprintf("spec.tls[%d].secretName", i) }
