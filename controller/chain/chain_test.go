package chain_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/chain"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/pki"
)

var (
	name = types.NamespacedName{Namespace: "demo", Name: "web"}
	now  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// world is a Completer, and the web server of an authority that serves certificates by path.
type world struct {
	*testing.T
	completer *chain.Completer
	changed   chan struct{}
	files     map[string][]byte
	url       string
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, changed: make(chan struct{}, 10), files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if file := w.files[r.URL.Path]; file != nil {
			rw.Write(file)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	w.completer = chain.New(func() { w.changed <- struct{}{} }, nil)
	return w
}

// issuedBy sets the path of the issuer's certificate.
func (w *world) issuedBy(path string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.IssuingCertificateURL = []string{w.url + path} }
}

func clusterOf(pair pki.Pair) snapshot.Snapshot {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Data: map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}}
	return snapshot.Snapshot{Secrets: map[types.NamespacedName]*corev1.Secret{name: secret}}
}

func (w *world) complete(cluster snapshot.Snapshot, at time.Time) (*corev1.Secret, []model.Finding) {
	completed, findings := w.completer.Complete(w.Context(), cluster, []types.NamespacedName{name, {Namespace: "demo", Name: "missing"}}, at)
	return completed.Secrets[name], findings
}

func TestChainIsCompleted(t *testing.T) {
	w := newWorld(t)
	root := pki.New("root")
	upper := root.Authority("upper", w.issuedBy("/root"))
	lower := upper.Authority("lower", w.issuedBy("/upper"))
	der, _ := pem.Decode(lower.PEM)
	w.files["/root"], w.files["/upper"], w.files["/lower"] = root.PEM, upper.PEM, der.Bytes
	cluster := clusterOf(lower.Issue("web", nil, w.issuedBy("/lower")))

	// Complete does not wait for the authority.
	if secret, findings := w.complete(cluster, now); secret != cluster.Secrets[name] || findings != nil {
		t.Errorf("at first: %v, %v", secret.Name, findings)
	}
	<-w.changed
	secret, findings := w.complete(cluster, now)
	if got := strings.Count(string(secret.Data["tls.crt"]), "BEGIN CERTIFICATE"); got != 3 || findings != nil {
		t.Errorf("%d certificates, want its own, lower and upper; %v", got, findings)
	}
	if strings.Count(string(cluster.Secrets[name].Data["tls.crt"]), "BEGIN CERTIFICATE") != 1 {
		t.Error("the Secret of the cluster was modified")
	}
	if again, _ := w.complete(cluster, now); again != secret {
		t.Error("the same Secret gave a different object")
	}
}

func TestAuthorityThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	root := pki.New("root")
	lower := root.Authority("lower", w.issuedBy("/root"))
	cluster := clusterOf(lower.Issue("web", nil, w.issuedBy("/lower")))
	w.complete(cluster, now)
	<-w.changed
	for _, minutes := range []time.Duration{0, 9} { // too early to ask again
		secret, findings := w.complete(cluster, now.Add(minutes*time.Minute))
		if secret != cluster.Secrets[name] || len(findings) != 1 || !strings.Contains(findings[0].Reason, "404") {
			t.Errorf("got %v", findings)
		}
	}
	w.files["/lower"], w.files["/root"] = lower.PEM, root.PEM
	w.complete(cluster, now.Add(10*time.Minute))
	<-w.changed
	secret, findings := w.complete(cluster, now.Add(10*time.Minute))
	if got := strings.Count(string(secret.Data["tls.crt"]), "BEGIN CERTIFICATE"); got != 2 || findings != nil {
		t.Errorf("%d certificates, %v", got, findings)
	}
}

// The fetched certificate must be that of the signer.
func TestWrongIssuerIsRejected(t *testing.T) {
	w := newWorld(t)
	lower := pki.New("root").Authority("lower")
	w.files["/lower"] = pki.New("lower").PEM
	cluster := clusterOf(lower.Issue("web", nil, w.issuedBy("/lower")))
	w.complete(cluster, now)
	<-w.changed
	if secret, findings := w.complete(cluster, now); secret != cluster.Secrets[name] || len(findings) != 1 {
		t.Errorf("the wrong issuer was accepted: %v", findings)
	}
}

// Nothing is fetched for complete chains and unreadable certificates.
func TestCompleteChainsAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	root := pki.New("root")
	for _, pair := range []pki.Pair{root.Issue("no address", nil), {Certificate: root.PEM}, {Certificate: []byte("nonsense")}, {}} {
		cluster := clusterOf(pair)
		if secret, findings := w.complete(cluster, now); secret != cluster.Secrets[name] || findings != nil {
			t.Errorf("got %v", findings)
		}
	}
	if len(w.changed) > 0 {
		t.Error("the authority got a request")
	}
}

// Results for deleted Secrets are dropped, even if the answer arrives later.
func TestDeletedSecretsAreForgotten(t *testing.T) {
	w := newWorld(t)
	root := pki.New("root")
	lower := root.Authority("lower")
	cluster := clusterOf(lower.Issue("web", nil, w.issuedBy("/lower")))
	w.complete(cluster, now)
	<-w.changed
	w.files["/lower"] = lower.PEM
	w.completer.Complete(t.Context(), snapshot.Snapshot{}, nil, now) // the Secret is gone
	w.complete(cluster, now)                                         // it is back: the authority is asked at once
	<-w.changed
	if secret, findings := w.complete(cluster, now); secret == cluster.Secrets[name] || findings != nil {
		t.Errorf("not completed: %v", findings)
	}
}

func TestForbiddenAuthority(t *testing.T) {
	w := newWorld(t)
	forbidden := errors.New("one of the controller's own ports")
	w.completer = chain.New(func() { w.changed <- struct{}{} }, func(string, string, syscall.RawConn) error { return forbidden })
	root := pki.New("root")
	w.files["/root"] = root.PEM
	cluster := clusterOf(root.Issue("web", nil, w.issuedBy("/root")))
	w.complete(cluster, now)
	<-w.changed
	secret, findings := w.complete(cluster, now)
	if secret != cluster.Secrets[name] || len(findings) != 1 || !strings.Contains(findings[0].Reason, forbidden.Error()) {
		t.Errorf("got %v", findings)
	}
}
