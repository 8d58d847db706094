package admission

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/internal/pki"
)

var quiet = slog.New(slog.DiscardHandler)

// issue writes a new certificate and its key, and returns its serial number.
func issue(t *testing.T, certFile, keyFile string) *big.Int {
	t.Helper()
	pair := pki.New("root").Issue("webhook", []string{"localhost"})
	for file, text := range map[string][]byte{certFile: pair.Certificate, keyFile: pair.Key} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return read.Leaf.SerialNumber
}

// webhook is a running server.
type webhook struct {
	address, cert, key string
	serial             *big.Int
	costs              chan metrics.Admission
}

func startWebhook(t *testing.T, check func(*networkingv1.Ingress) Verdict) webhook {
	t.Helper()
	dir := t.TempDir()
	w := webhook{cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), costs: make(chan metrics.Admission, 10)}
	w.serial = issue(t, w.cert, w.key)
	certificate, err := Load(w.cert, w.key, quiet)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.address = listener.Addr().String()
	server := Server(Handler(check, func(c metrics.Admission) { w.costs <- c }, quiet), certificate, quiet)
	ended := make(chan error, 1)
	go func() { ended <- Serve(server, listener) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

var client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}

func (w webhook) post(t *testing.T, body []byte) (int, string) {
	t.Helper()
	response, err := client.Post("https://"+w.address+"/any/path", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.ProtoMajor != 1 {
		t.Errorf("the server speaks %s", response.Proto)
	}
	return response.StatusCode, string(text)
}

// reviewBody returns an AdmissionReview; kind and object are JSON.
func reviewBody(kind, object string) []byte {
	return fmt.Appendf(nil, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u1","operation":"CREATE","namespace":"shop","name":"web","kind":%s,"object":%s}}`, kind, object)
}

const ingressKind = `{"group":"networking.k8s.io","version":"v1","kind":"Ingress"}`

func TestHandler(t *testing.T) {
	w := startWebhook(t, func(ingress *networkingv1.Ingress) Verdict {
		v := Verdict{Warnings: []string{"careful"}, Cost: metrics.Admission{Tested: 7}}
		switch ingress.Name {
		case "bad":
			v.Denial = errors.New("it is bad")
		case "ignored":
			return Verdict{Ignored: true}
		}
		return v
	})
	ask := func(object string) *admissionv1.AdmissionResponse {
		t.Helper()
		code, text := w.post(t, reviewBody(ingressKind, object))
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal([]byte(text), &review); err != nil || code != http.StatusOK || review.Kind != "AdmissionReview" || review.Response == nil {
			t.Fatalf("%d %s: %v", code, text, err)
		}
		if review.Response.UID != "u1" {
			t.Errorf("uid %q", review.Response.UID)
		}
		return review.Response
	}
	if r := ask(`{"metadata":{"name":"good"}}`); !r.Allowed || r.Result != nil || len(r.Warnings) != 1 {
		t.Errorf("good: %+v", r)
	}
	if cost := <-w.costs; cost.Denied || cost.Namespace != "shop" || cost.Ingress != "web" || cost.Tested != 7 || cost.Roundtrip <= 0 {
		t.Errorf("cost %+v", cost)
	}
	if r := ask(`{"metadata":{"name":"bad"}}`); r.Allowed || r.Result.Code != 400 || r.Result.Status != "Failure" || r.Result.Reason != "BadRequest" || r.Result.Message != "it is bad" || len(r.Warnings) != 1 {
		t.Errorf("bad: %+v", r)
	}
	if cost := <-w.costs; !cost.Denied {
		t.Errorf("cost %+v", cost)
	}
	if r := ask(`{"spec":7}`); r.Allowed || r.Result.Code != 400 || r.Result.Reason != "BadRequest" {
		t.Errorf("an invalid ingress: %+v", r)
	}
	<-w.costs
	if r := ask(`null`); !r.Allowed {
		t.Errorf("a deletion: %+v", r)
	}
	if r := ask(`{"metadata":{"name":"ignored"}}`); !r.Allowed {
		t.Errorf("of another controller: %+v", r)
	}
	if n := len(w.costs); n > 0 {
		t.Errorf("%d checks are counted of ingresses that need none", n)
	}
}

func TestTransportErrors(t *testing.T) {
	w := startWebhook(t, func(*networkingv1.Ingress) Verdict { return Verdict{} })
	for name, test := range map[string]struct {
		body []byte
		code int
	}{
		"not JSON":     {[]byte("hello"), 400},
		"no review":    {[]byte("{}"), 400},
		"no request":   {[]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`), 400},
		"not ingress":  {reviewBody(`{"group":"","version":"v1","kind":"Service"}`, "{}"), 500},
		"9 MiB":        {bytes.Repeat([]byte(" "), 9<<20), 413},
		"almost 9 MiB": {append(reviewBody(ingressKind, "{}"), bytes.Repeat([]byte(" "), 9<<20-1-len(reviewBody(ingressKind, "{}")))...), 200},
	} {
		if code, text := w.post(t, test.body); code != test.code {
			t.Errorf("%s: %d %s, want %d", name, code, text, test.code)
		}
	}
}

func TestTLS(t *testing.T) {
	w := startWebhook(t, func(*networkingv1.Ingress) Verdict { return Verdict{} })
	serial := func(config *tls.Config) (*big.Int, error) {
		config.InsecureSkipVerify = true
		conn, err := tls.Dial("tcp", w.address, config)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber, nil
	}
	expect := func(what string, want *big.Int) {
		t.Helper()
		if got, err := serial(new(tls.Config)); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%s: certificate %v, %v, want %v", what, got, err, want)
		}
	}
	expect("at first", w.serial)
	if _, err := serial(&tls.Config{MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("the server speaks TLS 1.1")
	}
	if err := os.WriteFile(w.cert, []byte("half a cert"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("while it is being replaced", w.serial)
	expect("after it was replaced", issue(t, w.cert, w.key))
	if err := os.Remove(w.key); err != nil {
		t.Fatal(err)
	}
	if _, err := serial(new(tls.Config)); err != nil {
		t.Errorf("without a key file: %v", err)
	}
	if _, err := Load(w.cert, w.key, quiet); err == nil || !strings.Contains(err.Error(), "tls.key") {
		t.Errorf("a missing file at start: %v", err)
	}
}

// No review makes the check panic.
func FuzzReview(f *testing.F) {
	f.Add(reviewBody(ingressKind, `{"metadata":{"name":"a","uid":"`+uid+`"},"spec":{"rules":[{"host":"a","http":{"paths":[{"path":"/","backend":{}}]}}]}}`))
	f.Add(reviewBody(ingressKind, `{"spec":{"defaultBackend":{}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var review admissionv1.AdmissionReview
		if json.Unmarshal(body, &review) != nil || review.Request == nil {
			return
		}
		r := reviewer(&testing.T{}, nil)
		judge(review.Request, r.Review)
	})
}
