package controller_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller"
	"windtunnel.dev/internal/pki"
)

// An intermediate authority signs a certificate, and clients trust only the root. The certificate
// is served alone at first, and with the chain when the authority has answered.
func TestChainIsCompletedFromItsAuthority(t *testing.T) {
	t.Parallel()
	root := pki.New("root")
	between := root.Authority("between")
	var asked atomic.Int64
	answer := make(chan struct{})
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/between" {
			http.NotFound(w, r)
			return
		}
		select {
		case <-answer:
			w.Write(between.PEM)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(authority.Close)
	at := func(path string) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.IssuingCertificateURL = []string{authority.URL + path} }
	}
	fallback := types.NamespacedName{Namespace: "default", Name: "default"}
	r := launchAs(t, true, func(config *controller.Config) {
		config.CompleteChains = true
		config.Options.DefaultSSLCertificate, config.Watch.DefaultCertificate = fallback, fallback
	}, func(r *running) {
		r.service(pod(t, "127.88.0.1", "one"))
		r.secret("default", pairData(between.Issue("of all", []string{"web.example"}, at("/between"))))
		r.secret("a", pairData(between.Issue("of a", []string{"a.example"}, at("/between"))))
		r.secret("lost", pairData(between.Issue("of lost", []string{"lost.example"}, at("/lost"))))
		r.ingress("a", "a", nil, "a.example")
		r.ingress("lost", "lost", nil, "lost.example")
	})
	r.log.next("ready")
	trusted, all := r.tlsClient(trusting(root)), r.tlsClient(anyone())
	r.awaitTLS(all, "https://a.example/", "200 one", "of a")
	if text, _ := r.answer(trusted, "https://a.example/"); !strings.Contains(text, "signed by unknown authority") {
		t.Errorf("before the authority answers: %s", text)
	}
	if event := r.awaitEvent("Secret", "Misconfigured"); event.InvolvedObject.Name != "lost" || !strings.Contains(event.Message, "404") {
		t.Errorf("got %+v", event)
	}
	close(answer)
	r.awaitTLS(trusted, "https://a.example/", "200 one", "of a")
	r.awaitTLS(trusted, "https://web.example/", "200 one", "of all") // the default certificate
	r.awaitTLS(all, "https://lost.example/", "200 one", "of lost")
	if got := asked.Load(); got != 3 {
		t.Errorf("the authority got %d requests, want one per certificate", got)
	}
}
