package kubeapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Who shows the token or a certificate of this server comes in over HTTPS, in both protocols.
func TestAuthenticationLetsIn(t *testing.T) {
	s := start(t)
	byCert, err := s.CertificateConfig("jane", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]*rest.Config{"token": s.TLSConfig(), "certificate": byCert, "HTTP": {Host: s.URL()}} {
		if _, err := client(t, config).CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAuthenticationKeepsOut(t *testing.T) {
	s, other := start(t), start(t)
	stranger, err := other.CertificateConfig("jane", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	stranger.Host, stranger.CAData = s.TLSURL(), s.TLSConfig().CAData
	nobody, wrong := s.TLSConfig(), s.TLSConfig()
	nobody.BearerToken, wrong.BearerToken = "", wrong.BearerToken+"x"
	for name, test := range map[string]struct {
		config *rest.Config
		is     func(error) bool
	}{
		"nothing":                         {nobody, apierrors.IsForbidden},
		"a wrong token":                   {wrong, apierrors.IsUnauthorized},
		"a certificate of another server": {stranger, apierrors.IsUnauthorized},
	} {
		c := client(t, test.config)
		if _, err := c.CoreV1().ConfigMaps("").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); !test.is(err) {
			t.Errorf("%s: create: %v", name, err)
		}
		if _, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{}); !test.is(err) {
			t.Errorf("%s: watch: %v", name, err)
		}
	}
	if n := configMapsOf(s).len(); n != 0 {
		t.Errorf("%d objects were created", n)
	}
}

// The words are those of the real server, and some paths are open to all.
func TestAuthenticationWords(t *testing.T) {
	s, err := Start(Options{HTTP: "127.0.0.1:0", Auth: AuthAll, Token: "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	for path, want := range map[string]string{
		"/api/v1/namespaces/default/services/web": `services "web" is forbidden: User "system:anonymous" cannot get resource "services" in API group "" in the namespace "default"`,
		"/apis/networking.k8s.io/v1/ingresses":    `ingresses.networking.k8s.io is forbidden: User "system:anonymous" cannot list resource "ingresses" in API group "networking.k8s.io" at the cluster scope`,
		"/api/v1/pods?watch=1":                    `pods is forbidden: User "system:anonymous" cannot watch resource "pods" in API group "" at the cluster scope`,
		"/apis":                                   `forbidden: User "system:anonymous" cannot get path "/apis"`,
		"/version":                                "",
		"/readyz":                                 "",
	} {
		if got := refusalOf(t, s.URL()+path, ""); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for token, want := range map[string]string{"Bearer 0123456789abcdef": "", "Bearer 0123456789abcde": "Unauthorized", "Basic 0123456789abcdef": "Unauthorized"} {
		if got := refusalOf(t, s.URL()+"/api/v1/pods", token); got != want {
			t.Errorf("%s: %q, want %q", token, got, want)
		}
	}
}

// refusalOf is the message of the Status that a GET is answered with, empty for a 200.
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

// The kubeconfig of a server over HTTPS has two contexts: by token and by certificate.
func TestKubeconfigCarriesCredentials(t *testing.T) {
	s, err := Start(Options{HTTPS: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
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
}

// Beyond loopback it takes TLS, authentication and a token that somebody chose.
func TestListensBeyondLoopbackOnlyGuarded(t *testing.T) {
	token := strings.Repeat("t", minToken)
	for name, test := range map[string]struct {
		opts Options
		ok   bool
	}{
		"HTTP":                  {Options{HTTP: "0.0.0.0:0", Token: token, Auth: AuthAll}, false},
		"HTTPS without a token": {Options{HTTPS: "0.0.0.0:0"}, false},
		"HTTPS open to all":     {Options{HTTPS: "0.0.0.0:0", Token: token, Auth: AuthNone}, false},
		"a token that is short": {Options{HTTPS: "127.0.0.1:0", Token: token[1:]}, false},
		"an unknown mode":       {Options{HTTP: "127.0.0.1:0", Auth: "some"}, false},
		"HTTPS with a token":    {Options{HTTPS: "0.0.0.0:0", Token: token}, true},
		"open to all, loopback": {Options{HTTPS: "127.0.0.1:0", Auth: AuthNone}, true},
	} {
		s, err := Start(test.opts)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		config := s.Config()
		if test.opts.Auth == AuthNone {
			config.BearerToken = ""
		}
		if _, err := client(t, config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.Close(context.Background())
	}
}
