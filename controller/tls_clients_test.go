package controller_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/pki"
)

// podThat starts a pod with a handler, over TLS if config is not nil.
func podThat(t *testing.T, address string, config *tls.Config, answer http.HandlerFunc) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, TLS: config, Config: &http.Server{Handler: answer}}
	if config == nil {
		server.Start()
	} else {
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	return listener.Addr().(*net.TCPAddr)
}

func showing(pair pki.Pair) tls.Certificate {
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		panic(err) // pki's
	}
	return certificate
}

// as returns a client with a certificate.
func (r *running) as(pair pki.Pair) *http.Client {
	config := anyone()
	// The client sends it regardless of the authorities that the server names.
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return new(showing(pair)), nil }
	return r.tlsClient(config)
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	clients, others := pki.New("clients"), pki.New("others")
	alice, bob, revoked, stranger := clients.Issue("alice", nil), clients.Issue("bob", nil), clients.Issue("alice", nil), others.Issue("alice", nil)
	r := launch(t, true)
	r.service(podThat(t, "127.88.0.1", nil, func(w http.ResponseWriter, request *http.Request) {
		h := request.Header
		cert := ""
		if strings.HasPrefix(h.Get("Ssl-Client-Cert"), "-----BEGIN%20CERTIFICATE-----") {
			cert = " and its certificate"
		}
		fmt.Fprintf(w, "%s %s of %s%s", h.Get("Ssl-Client-Verify"), h.Get("Ssl-Client-Subject-Dn"), h.Get("Ssl-Client-Issuer-Dn"), cert)
	}))
	r.secret("clients", map[string][]byte{"ca.crt": clients.PEM, "ca.crl": clients.Revoke(revoked)})
	with := func(more map[string]string) map[string]string {
		all := map[string]string{"auth-tls-secret": "default/clients"}
		for key, value := range more {
			all[key] = value
		}
		return all
	}
	r.ingress("must", "", with(map[string]string{"auth-tls-pass-certificate-to-upstream": "true"}), "must.example")
	r.ingress("may", "", with(map[string]string{"auth-tls-verify-client": "optional"}), "may.example")
	r.ingress("alice", "", with(map[string]string{"auth-tls-match-cn": "CN=al.ce"}), "alice.example")
	r.ingress("page", "", with(map[string]string{"auth-tls-error-page": "https://help.example/who"}), "page.example")
	r.ingress("closed", "", map[string]string{"auth-tls-secret": "default/missing"}, "closed.example")

	nobody := r.tlsClient(anyone())
	for _, test := range []struct {
		client *http.Client
		host   string
		want   string
	}{
		{r.as(alice), "must", "200 SUCCESS CN=alice of CN=clients and its certificate"},
		{r.as(bob), "must", "200 SUCCESS CN=bob of CN=clients and its certificate"},
		{nobody, "must", "400 "},
		{r.as(stranger), "must", "400 "},
		{r.as(revoked), "must", "400 "},
		{r.as(alice), "may", "200 SUCCESS CN=alice of CN=clients"},
		{nobody, "may", "200 NONE  of "},
		{r.as(alice), "alice", "200 SUCCESS CN=alice of CN=clients"},
		{r.as(bob), "alice", "403 "},
		{r.as(alice), "page", "200 "},
		{nobody, "page", "302 "},
		{r.as(alice), "closed", "403 "},
		{nobody, "web", "200 "}, // requests no certificate
	} {
		r.awaitTLS(test.client, "https://"+test.host+".example/", test.want, fakeName)
	}

	// A change of the clients' authority needs a reload.
	r.secret("clients", map[string][]byte{"ca.crt": others.PEM})
	r.awaitTLS(r.as(stranger), "https://must.example/", "200 SUCCESS CN=alice of CN=others", fakeName)
	r.awaitTLS(r.as(bob), "https://must.example/", "400 ", fakeName)
	// Without an authority this host is closed, but no other.
	r.must(r.client.CoreV1().Secrets("default").Delete(t.Context(), "clients", metav1.DeleteOptions{}))
	r.awaitTLS(r.as(stranger), "https://must.example/", "403 ", fakeName)
	r.awaitTLS(nobody, "https://web.example/", "200 ", fakeName)
}

func TestPodsWithTLS(t *testing.T) {
	t.Parallel()
	pods, ours, others := pki.New("pods"), pki.New("ours"), pki.New("others")
	trusted := x509.NewCertPool()
	trusted.AddCert(ours.Certificate)
	r := launch(t, true)
	r.service(podThat(t, "127.88.0.1", &tls.Config{
		Certificates: []tls.Certificate{showing(pods.Issue("pod", []string{"pod.example"}))},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    trusted,
	}, func(w http.ResponseWriter, request *http.Request) {
		fmt.Fprintf(w, "pod saw %s ask for %s", request.TLS.PeerCertificates[0].Subject.CommonName, request.TLS.ServerName)
	}))
	shown := pairData(ours.Issue("nginx", nil))
	shown["ca.crt"] = pods.PEM
	r.secret("good", shown)
	wrong := pairData(ours.Issue("nginx", nil))
	wrong["ca.crt"] = others.PEM
	r.secret("wrong", wrong)
	with := func(secret, name string) map[string]string {
		return map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/" + secret, "proxy-ssl-verify": "on", "proxy-ssl-name": name, "proxy-ssl-server-name": "on", "proxy-ssl-protocols": "TLSv1.3"}
	}
	r.ingress("good", "", with("good", "pod.example"), "good.example")
	r.ingress("misnamed", "", with("good", "other.example"), "misnamed.example")
	r.ingress("wrong", "", with("wrong", "pod.example"), "wrong.example")
	r.ingress("unverified", "", map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/wrong"}, "unverified.example")
	r.ingress("missing", "", with("missing", "pod.example"), "missing.example")
	// As in ingress-nginx, a kept-alive connection is used for all hosts of a pod, no matter how it
	// was verified.
	r.configure(map[string]string{"upstream-keepalive-connections": "0"}, r.client.CoreV1().ConfigMaps("default").Update)
	client := r.tlsClient(anyone())
	for host, want := range map[string]string{
		"good": "200 pod saw nginx ask for pod.example", "misnamed": "502 ", "wrong": "502 ", "unverified": "200 pod saw nginx ask for ", "missing": "503 ",
	} {
		r.awaitTLS(client, "https://"+host+".example/", want, fakeName)
	}
	// After the correction, the pod passes verification.
	r.secret("wrong", shown)
	r.awaitTLS(client, "https://wrong.example/", "200 pod saw nginx", fakeName)
}

// nginx's workers can read password files, regardless of their user.
func TestPasswordsFromSecrets(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.service(pod(t, "127.88.0.1", "one"))
	r.secret("file", map[string][]byte{"auth": []byte("ann:{PLAIN}sesame\n")})
	r.secret("map", map[string][]byte{"ben": []byte("{PLAIN}open"), "ann": []byte("{PLAIN}other\n")})
	r.ingress("file", "", map[string]string{"auth-type": "basic", "auth-secret": "file"}, "file.example")
	r.ingress("map", "", map[string]string{"auth-type": "basic", "auth-secret": "default/map", "auth-secret-type": "auth-map"}, "map.example")
	client := r.tlsClient(anyone())
	for url, want := range map[string]string{
		"https://ann:sesame@file.example/": "200 one",
		"https://ann:wrong@file.example/":  "401 ",
		"https://file.example/":            "401 ",
		"https://ben:open@map.example/":    "200 one",
		"https://ann:other@map.example/":   "200 one",
		"https://ann:sesame@map.example/":  "401 ",
	} {
		r.awaitTLS(client, url, want, fakeName)
	}
	r.secret("file", map[string][]byte{"auth": []byte("ann:{PLAIN}changed\n")})
	r.awaitTLS(client, "https://ann:changed@file.example/", "200 one", fakeName)
	r.awaitTLS(client, "https://ann:sesame@file.example/", "401 ", fakeName)
}

// An expired certificate is served, and a Warning on its Secret reports it.
func TestExpiredCertificateIsServedAndReported(t *testing.T) {
	t.Parallel()
	authority := pki.New("root")
	r := launch(t, true)
	r.service(pod(t, "127.88.0.1", "one"))
	r.secret("old", pairData(authority.Issue("old", []string{"old.example"}, func(c *x509.Certificate) { c.NotAfter = c.NotBefore.AddDate(0, 0, 1) })))
	r.ingress("old", "old", nil, "old.example")
	r.awaitTLS(r.tlsClient(anyone()), "https://old.example/", "200 one", "old")
	for {
		if found := r.log.next("finding"); strings.HasPrefix(found.What, "Secret default/old: tls.crt: the certificate expires in less than 10 days") {
			break
		}
	}
}
