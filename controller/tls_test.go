package controller_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller"
	"windtunnel.dev/internal/pki"
)

// secret creates or replaces a Secret.
func (r *running) secret(name string, data map[string][]byte) {
	r.Helper()
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	secrets := r.client.CoreV1().Secrets("default")
	_, err := secrets.Update(r.Context(), object, metav1.UpdateOptions{})
	if err != nil {
		_, err = secrets.Create(r.Context(), object, metav1.CreateOptions{})
	}
	r.must(err)
}

func pairData(pair pki.Pair) map[string][]byte {
	return map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}
}

// ingress creates an ingress for hosts and the service web. Each host has an entry in spec.tls that
// names secret; if secret is empty, there is no tls section.
func (r *running) ingress(name, secret string, annotations map[string]string, hosts ...string) {
	r.Helper()
	class, prefix := "nginx", networkingv1.PathTypePrefix
	object := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressSpec{IngressClassName: &class}}
	for key, value := range annotations {
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, "nginx.ingress.kubernetes.io/"+key, value)
	}
	if secret != "" {
		object.Spec.TLS = []networkingv1.IngressTLS{{Hosts: hosts, SecretName: secret}}
	}
	for _, host := range hosts {
		object.Spec.Rules = append(object.Spec.Rules, networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: "/", PathType: &prefix,
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
			}}},
		}})
	}
	_, err := r.client.NetworkingV1().Ingresses("default").Create(r.Context(), object, metav1.CreateOptions{})
	r.must(err)
}

// tlsClient returns a client for TLS. Each request uses a new connection.
func (r *running) tlsClient(config *tls.Config) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       10 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   config,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				port := r.ports.HTTPS
				if strings.HasSuffix(address, ":80") {
					port = r.ports.HTTP
				}
				return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
			},
		},
	}
}

// answer requests a URL and returns the status with the body, and the common name of the server's
// certificate.
func (r *running) answer(client *http.Client, url string) (text, certificate string) {
	response, err := client.Get(url)
	if err != nil {
		return err.Error(), ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error(), ""
	}
	if response.TLS != nil {
		certificate = response.TLS.PeerCertificates[0].Subject.CommonName
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body), certificate
}

// awaitTLS requests a URL until the answer and the certificate are the wanted ones several times in
// a row, because workers apply changes at different times.
func (r *running) awaitTLS(client *http.Client, url, text, certificate string) {
	r.Helper()
	var gotText, gotCertificate string
	inRow := 0
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		gotText, gotCertificate = r.answer(client, url)
		if inRow++; !strings.HasPrefix(gotText, text) || gotCertificate != certificate {
			inRow = 0
		}
		if inRow == 5 {
			return
		}
	}
	r.Fatalf("%s is answered with %q by %q, want %q by %q", url, gotText, gotCertificate, text, certificate)
}

const fakeName = "Kubernetes Ingress Controller Fake Certificate"

func anyone() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

func trusting(authority *pki.Authority) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate)
	return &tls.Config{RootCAs: roots}
}

// The controller sends all certificates, or with --backends-delta only those that changed.
func TestServerNameSelectsTheCertificate(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{false, true} {
		t.Run(fmt.Sprintf("delta=%t", delta), func(t *testing.T) {
			t.Parallel()
			testServerNames(t, delta)
		})
	}
}

func testServerNames(t *testing.T, delta bool) {
	t.Helper()
	authority := pki.New("root")
	r := launchAs(t, true, func(c *controller.Config) { c.Options.BackendsDelta = delta })
	r.service(pod(t, "127.88.0.1", "one")) // web.example has no tls section
	r.secret("a", pairData(authority.Issue("of a", []string{"a.example"})))
	r.secret("wild", pairData(authority.Issue("of wild", []string{"*.wild.example"})))
	r.secret("bad", map[string][]byte{"tls.crt": []byte("nonsense"), "tls.key": []byte("nonsense")})
	r.ingress("a", "a", nil, "a.example")
	r.ingress("wild", "wild", nil, "*.wild.example")
	r.ingress("bad", "bad", nil, "bad.example")
	r.ingress("mismatch", "a", nil, "mismatch.example")
	r.ingress("missing", "missing", nil, "missing.example")

	trusted, all := r.tlsClient(trusting(authority)), r.tlsClient(anyone())
	r.awaitTLS(trusted, "https://a.example/", "200 one", "of a")
	r.awaitTLS(trusted, "https://x.wild.example/", "200 one", "of wild")
	for _, host := range []string{"web.example", "bad.example", "mismatch.example", "missing.example"} {
		r.awaitTLS(all, "https://"+host+"/", "200 one", fakeName)
	}
	r.awaitTLS(all, "https://nobody.example/", "404", fakeName)

	// A new or corrected Secret is served without a reload.
	workers := fmt.Sprint(r.workers())
	r.secret("missing", pairData(authority.Issue("of missing", []string{"missing.example"})))
	r.awaitTLS(trusted, "https://missing.example/", "200 one", "of missing")
	r.secret("bad", pairData(authority.Issue("of bad", []string{"bad.example"})))
	r.awaitTLS(trusted, "https://bad.example/", "200 one", "of bad")
	if after := fmt.Sprint(r.workers()); after != workers {
		t.Errorf("workers %s became %s", workers, after)
	}

	// A deleted host has no certificate.
	r.must(r.client.NetworkingV1().Ingresses("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	r.awaitTLS(all, "https://a.example/", "404", fakeName)
}

func TestDefaultCertificate(t *testing.T) {
	t.Parallel()
	authority := pki.New("root")
	r := launchAs(t, true, func(config *controller.Config) {
		name := types.NamespacedName{Namespace: "default", Name: "default"}
		config.Options.DefaultSSLCertificate, config.Watch.DefaultCertificate = name, name
	})
	r.service(pod(t, "127.88.0.1", "one"))
	all := r.tlsClient(anyone())
	r.awaitTLS(all, "https://web.example/", "200 one", fakeName)
	r.secret("default", pairData(authority.Issue("first", []string{"*.example"})))
	r.awaitTLS(all, "https://web.example/", "200 one", "first")
	r.secret("default", pairData(authority.Issue("second", []string{"*.example"})))
	r.awaitTLS(r.tlsClient(trusting(authority)), "https://web.example/", "200 one", "second")
	r.secret("default", map[string][]byte{"tls.crt": []byte("nonsense")})
	r.awaitTLS(all, "https://web.example/", "200 one", fakeName)
}

// No handshake fails while a certificate is renewed.
func TestCertificateIsRenewedUnderLoad(t *testing.T) {
	t.Parallel()
	authority := pki.New("root")
	r := launch(t, true, func(r *running) {
		r.service(pod(t, "127.88.0.1", "one"))
		r.secret("a", pairData(authority.Issue("generation 0", []string{"a.example"})))
		r.ingress("a", "a", nil, "a.example")
	})
	r.log.next("ready") // in every worker
	client := r.tlsClient(trusting(authority))
	r.awaitTLS(client, "https://a.example/", "200 one", "generation 0")

	var handshakes, failures atomic.Int64
	done, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for done.Err() == nil {
				handshakes.Add(1)
				if text, _ := r.answer(client, "https://a.example/"); text != "200 one" {
					failures.Add(1)
					t.Error(text)
				}
			}
		})
	}
	for generation := 1; generation <= 5; generation++ {
		name := fmt.Sprint("generation ", generation)
		r.secret("a", pairData(authority.Issue(name, []string{"a.example"})))
		r.awaitTLS(client, "https://a.example/", "200 one", name)
	}
	stop()
	clients.Wait()
	if failures.Load() > 0 || handshakes.Load() < 10 {
		t.Errorf("%d of %d handshakes failed", failures.Load(), handshakes.Load())
	}
}

func TestRedirectsToTLS(t *testing.T) {
	t.Parallel()
	authority := pki.New("root")
	r := launch(t, true)
	r.service(pod(t, "127.88.0.1", "one"))
	r.secret("a", pairData(authority.Issue("of a", []string{"a.example", "off.example"})))
	r.ingress("a", "a", nil, "a.example")
	r.ingress("off", "a", map[string]string{"ssl-redirect": "false"}, "off.example")
	r.ingress("force", "", map[string]string{"force-ssl-redirect": "true"}, "force.example")
	client := r.tlsClient(trusting(authority))
	r.awaitTLS(client, "https://a.example/", "200 one", "of a")
	for url, want := range map[string]string{
		"http://a.example/x?y=1":  "https://a.example/x?y=1",
		"http://off.example/":     "",
		"http://web.example/":     "", // it has no certificate
		"http://force.example/x/": "https://force.example/x",
	} {
		r.awaitRedirect(client, url, want)
	}
	response, err := client.Get("https://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got, want := response.Header.Get("Strict-Transport-Security"), "max-age=31536000; includeSubDomains"; got != want {
		t.Errorf("HSTS %q, want %q", got, want)
	}
	response, err = client.Get("http://off.example/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := response.Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("HSTS over plain HTTP: %q", got)
	}
}

// awaitRedirect requests a URL until it redirects to another URL or, if to is empty, until the pod
// answers.
func (r *running) awaitRedirect(client *http.Client, url, to string) {
	r.Helper()
	var status int
	var location string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		response, err := client.Get(url)
		if err != nil {
			r.Log(err)
			continue
		}
		response.Body.Close()
		status, location = response.StatusCode, response.Header.Get("Location")
		if location == to && (to == "" && status == http.StatusOK || to != "" && status == http.StatusPermanentRedirect) {
			return
		}
	}
	r.Errorf("%s: status %d, location %q, want %q", url, status, location, to)
}
