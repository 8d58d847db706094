// Package chain completes certificate chains. Clients need all certificates of a chain except the
// root, and a certificate may name the URL of its issuer's certificate (RFC 5280, 4.2.2.1,
// caIssuers). The package stands between the cluster's Secrets and the model. Its one rule: nothing
// waits for a certificate authority; an incomplete chain is served as it is until the missing
// certificates arrive, and the caller is notified then.
package chain

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// again is the pause before the next request to an authority that did not answer.
const again = 10 * time.Minute

// Completer completes the chains of Secrets. It caches results only for the Secrets of the last
// call of Complete.
type Completer struct {
	client  *http.Client
	changed func()

	mu      sync.Mutex
	found   map[string]missing // the key is the last certificate of a chain, in DER
	secrets map[*corev1.Secret]*chain
}

// missing is the state or result of a search for the missing certificates of a chain.
type missing struct {
	pem   []byte // certificates to append
	err   error
	asked time.Time
	done  bool
}

// chain is the chain of a Secret in the cluster.
type chain struct {
	last  *x509.Certificate // nil: no certificate is missing, or none can be found
	whole *corev1.Secret    // the Secret with the complete chain; nil: not known yet
}

// New returns a Completer. It calls changed when Complete may return a new result: a chain is
// complete, or an authority can be asked again. control, if not nil, may refuse the address to
// which an authority's name resolves; see net.Dialer.
func New(changed func(), control func(network, address string, conn syscall.RawConn) error) *Completer {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, Control: control}).DialContext
	return &Completer{client: &http.Client{Timeout: 10 * time.Second, Transport: transport}, changed: changed}
}

// Complete returns the cluster with complete chains in the named Secrets, as far as they are known,
// and findings about chains that cannot be completed. It fetches unknown certificates in the
// background, until ctx is done. The same Secret always yields the same object.
func (c *Completer) Complete(ctx context.Context, cluster snapshot.Snapshot, names []types.NamespacedName, now time.Time) (snapshot.Snapshot, []model.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, secrets := make(map[string]missing), make(map[*corev1.Secret]*chain)
	whole := make(map[types.NamespacedName]*corev1.Secret)
	var findings []model.Finding
	for _, name := range names {
		secret := cluster.Secrets[name]
		if secret == nil || secrets[secret] != nil {
			continue
		}
		known := c.chainOf(secret)
		secrets[secret] = known
		if known.last == nil {
			continue
		}
		lacks := c.lacks(ctx, known.last, now)
		found[string(known.last.Raw)] = lacks
		if lacks.err != nil {
			findings = append(findings, model.Finding{Object: "Secret " + name.String(), Key: corev1.TLSCertKey, Reason: "the chain cannot be completed: " + lacks.err.Error() + "; the incomplete chain is served"})
		}
		if len(lacks.pem) == 0 {
			continue
		}
		if known.whole == nil {
			known.whole = with(secret, lacks.pem)
		}
		whole[name] = known.whole
	}
	c.found, c.secrets = found, secrets
	if len(whole) > 0 {
		cluster.Secrets = maps.Clone(cluster.Secrets)
		maps.Copy(cluster.Secrets, whole)
	}
	return cluster, findings
}

func (c *Completer) chainOf(secret *corev1.Secret) *chain {
	if known := c.secrets[secret]; known != nil {
		return known
	}
	last := lastOf(secret)
	if last == nil || len(last.IssuingCertificateURL) == 0 || isRoot(last) {
		return new(chain)
	}
	return &chain{last: last}
}

// lacks returns the known state of the missing certificates of a chain that ends in last. It starts
// fetching them if necessary. The caller holds the lock.
func (c *Completer) lacks(ctx context.Context, last *x509.Certificate, now time.Time) missing {
	lacks, asked := c.found[string(last.Raw)]
	if asked && (!lacks.done || lacks.err == nil || now.Sub(lacks.asked) < again) {
		return lacks
	}
	lacks.asked, lacks.done = now, false
	go c.ask(ctx, last, now)
	return lacks
}

// ask fetches the missing certificates of a chain and calls changed. After a failure, it calls
// changed again when it is time to retry.
func (c *Completer) ask(ctx context.Context, last *x509.Certificate, now time.Time) {
	text, err := fetch(ctx, c.client, last)
	c.mu.Lock()
	_, wanted := c.found[string(last.Raw)]
	if wanted {
		c.found[string(last.Raw)] = missing{pem: text, err: err, asked: now, done: true}
	}
	c.mu.Unlock()
	if !wanted || ctx.Err() != nil {
		return
	}
	c.changed()
	if err == nil {
		return
	}
	select {
	case <-time.After(again):
		c.changed()
	case <-ctx.Done():
	}
}

// with returns a copy of a Secret with more certificates after its own.
func with(secret *corev1.Secret, more []byte) *corev1.Secret {
	whole := secret.DeepCopy()
	whole.Data[corev1.TLSCertKey] = bytes.Join([][]byte{bytes.TrimSpace(secret.Data[corev1.TLSCertKey]), more}, []byte("\n"))
	return whole
}

// lastOf returns the last certificate of a Secret; nil if it has none or an invalid one.
func lastOf(secret *corev1.Secret) *x509.Certificate {
	var last *x509.Certificate
	for block, rest := pem.Decode(secret.Data[corev1.TLSCertKey]); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		last = certificate
	}
	return last
}

func isRoot(certificate *x509.Certificate) bool {
	return bytes.Equal(certificate.RawIssuer, certificate.RawSubject)
}
