package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// guarded runs a server that requires credentials, over HTTP and HTTPS.
func guarded(t testing.TB) *Server {
	t.Helper()
	return startWith(t, Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", Dir: t.TempDir()})
}

// A request with the token or a certificate of this server is accepted, over both protocols.
func TestAuthenticatedRequestsAreAccepted(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	byCert, err := s.CertificateConfig("jane", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]*rest.Config{"token": s.TLSConfig(), "certificate": byCert, "token over HTTP": s.Config()} {
		if _, err := client(t, config).CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	t.Parallel()
	s, other := guarded(t), guarded(t)
	stranger, err := other.CertificateConfig("jane", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	stranger.Host, stranger.CAData = s.TLSURL(), s.TLSConfig().CAData
	nobody, wrong := s.TLSConfig(), s.TLSConfig()
	nobody.BearerToken, wrong.BearerToken = "", wrong.BearerToken+"x"
	for name, config := range map[string]*rest.Config{
		"nothing":                         nobody,
		"nothing over HTTP":               {Host: s.URL()},
		"a wrong token":                   wrong,
		"another server's token":          {Host: s.URL(), BearerToken: other.Config().BearerToken},
		"a certificate of another server": stranger,
	} {
		c := client(t, config)
		if _, err := c.CoreV1().ConfigMaps("").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); !apierrors.IsUnauthorized(err) {
			t.Errorf("%s: create: %v", name, err)
		}
		if _, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
			t.Errorf("%s: watch: %v", name, err)
		}
	}
	if n := configMapsOf(s).Len(); n != 0 {
		t.Errorf("%d objects were created", n)
	}
}

// Without credentials everything except health probes gets a 401, over both protocols.
func TestUnauthenticatedResponses(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0", Token: "0123456789abcdef"})
	for _, path := range []string{"/", "/api", "/apis", "/version", "/openapi/v3", "/api/v1/namespaces/default/services/web", "/api/v1/pods?watch=1", "/apis/none.example/v1/things", "/healthzz", "/readyz/"} {
		want := "Unauthorized"
		if path == "/readyz/" {
			want = ""
		}
		if got := refusalOf(t, s.URL()+path, ""); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for token, want := range map[string]string{"Bearer 0123456789abcdef": "", "bearer  0123456789abcdef ": "", "Bearer 0123456789abcde": "Unauthorized", "Bearer ": "Unauthorized",
		"Basic 0123456789abcdef": "Unauthorized", "0123456789abcdef": "Unauthorized"} {
		if got := refusalOf(t, s.URL()+"/api/v1/pods", token); got != want {
			t.Errorf("%s: %q, want %q", token, got, want)
		}
	}
}

// The server refuses requests whose Host is a name that a web page could resolve to this machine,
// even with a valid token and for every path.
func TestHostIsChecked(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0", HTTPS: "0.0.0.0:0", Token: "0123456789abcdef"})
	port := s.URL()[strings.LastIndex(s.URL(), ":"):]
	own := addressesOf(s.https.listener)
	hosts := map[string]bool{
		"127.0.0.1" + port: true, "127.0.0.1": true, "localhost" + port: true, "LocalHost.": true, "[::1]" + port: true, "127.9.9.9": true,
		net.JoinHostPort(own[len(own)-1].String(), "1"): true,
		"evil.example" + port:                           false, "localhost.evil.example": false, "127.0.0.1.evil.example" + port: false, "192.0.2.1": false, "a:b:c": false,
	}
	for host, ok := range hosts {
		for _, path := range []string{"/api/v1/pods", "/readyz", "/nowhere"} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			req.Header.Set("Authorization", "Bearer 0123456789abcdef")
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if refused := resp.StatusCode == http.StatusForbidden; refused == ok {
				t.Errorf("Host %s: %s: %d", host, path, resp.StatusCode)
			}
		}
	}
}

// The server refuses the requests that a web page's form, or its script without CORS permission,
// can make a browser send.
func TestContentTypeIsRequired(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	before := everything(s)
	for _, contentType := range []string{"", "text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		for _, test := range []struct{ method, path, body string }{
			{"POST", cmPath, `{"metadata":{"name":"b"}}`},
			{"PUT", cmPath + "/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`},
			{"PATCH", cmPath + "/a", `{"data":{"k":"v"}}`},
			{"DELETE", cmPath + "/a", `{"kind":"DeleteOptions"}`},
			{"DELETE", cmPath, `{"kind":"DeleteOptions"}`},
			{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{}}`},
			{"PUT", "/api/v1/namespaces/default/finalize", `{"metadata":{"name":"default"}}`},
		} {
			resp := w.send(test.method, test.path, contentType, test.body)
			if resp.StatusCode != http.StatusUnsupportedMediaType {
				t.Errorf("%s %s as %q: %d", test.method, test.path, contentType, resp.StatusCode)
			}
		}
	}
	if after := everything(s); !reflect.DeepEqual(before, after) {
		t.Errorf("the objects changed: %v", after)
	}
	if err := client(t, s.Config()).CoreV1().RESTClient().Post().AbsPath(cmPath).Body([]byte(`{"metadata":{"name":"b"}}`)).Do(t.Context()).Error(); err != nil {
		t.Errorf("a client with a token and without a Content-Type: %v", err)
	}
	if resp := w.send("DELETE", cmPath+"/a", "", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("DELETE without a body: %d", resp.StatusCode)
	}
}

// refusalOf returns the message of the Status in the answer to a GET, or an empty string for a 200.
func refusalOf(t *testing.T, url, authorization string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var status metav1.Status
	if resp.StatusCode == http.StatusOK {
		return ""
	}
	if err := json.Unmarshal(body, &status); err != nil || int(status.Code) != resp.StatusCode {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
	return status.Message
}

// The kubeconfig of a server has two contexts, one with a token and one with a certificate, even if
// only HTTP was requested. Only its owner may read it, also after it replaced another file.
func TestKubeconfigLater(t *testing.T) {
	t.Parallel()
	opts := Options{HTTPS: "127.0.0.1:0", Dir: t.TempDir(), KubeconfigLater: true}
	earlier := filepath.Join(opts.Dir, "kubeconfig")
	if err := os.WriteFile(earlier, []byte("of an earlier server"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startWith(t, opts)
	if _, err := os.Stat(earlier); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the kubeconfig before WriteKubeconfig: %v", err)
	}
	if err := s.WriteKubeconfig(); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if err := startWith(t, Options{HTTP: "127.0.0.1:0"}).WriteKubeconfig(); err == nil || !strings.Contains(err.Error(), "set Dir") {
		t.Errorf("a kubeconfig without a folder: %v", err)
	}
}

func TestKubeconfigCarriesCredentials(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{"HTTPS": {HTTPS: "127.0.0.1:0"}, "HTTP": {HTTP: "127.0.0.1:0"}} {
		t.Run(name, func(t *testing.T) {
			opts.Dir = t.TempDir()
			elsewhere := filepath.Join(t.TempDir(), "elsewhere")
			if err := os.WriteFile(elsewhere, []byte("not yours"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, filepath.Join(opts.Dir, "kubeconfig")); err != nil {
				t.Fatal(err)
			}
			s := startWith(t, opts)
			for _, name := range []string{"", "windtunnel-certificate"} {
				config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
					&clientcmd.ClientConfigLoadingRules{ExplicitPath: s.Kubeconfig()}, &clientcmd.ConfigOverrides{CurrentContext: name}).ClientConfig()
				if err != nil {
					t.Fatal(err)
				}
				if (config.BearerToken == "") == (config.CertData == nil) {
					t.Errorf("context %q has token %q and a certificate of %d bytes", name, config.BearerToken, len(config.CertData))
				}
				if _, err := client(t, config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
					t.Errorf("context %q: %v", name, err)
				}
			}
			if is, err := os.Lstat(s.Kubeconfig()); err != nil || is.Mode() != 0o600 {
				t.Errorf("the kubeconfig has mode %v, %v", is.Mode(), err)
			}
			if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "not yours" {
				t.Errorf("the server followed a link: %s, %v", text, err)
			}
		})
	}
}

// Listening beyond loopback requires TLS, authentication and a token that the operator chose.
func TestListeningBeyondLoopbackNeedsProtection(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("t", minToken)
	for name, test := range map[string]struct {
		opts Options
		ok   bool
	}{
		"HTTP":                  {Options{HTTP: "0.0.0.0:0", Token: token}, false},
		"HTTPS without a token": {Options{HTTPS: "0.0.0.0:0"}, false},
		"HTTPS open to all":     {Options{HTTPS: "0.0.0.0:0", Token: token, Anonymous: true}, false},
		"a token that is short": {Options{HTTPS: "127.0.0.1:0", Token: token[1:]}, false},
		"HTTPS with a token":    {Options{HTTPS: "0.0.0.0:0", Token: token}, true},
		"open to all, loopback": {Options{HTTPS: "127.0.0.1:0", Anonymous: true}, true},
	} {
		s, err := Start(test.opts)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		config := s.Config()
		if test.opts.Anonymous {
			config.BearerToken = ""
		}
		if _, err := client(t, config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.Close(context.Background())
	}
}
