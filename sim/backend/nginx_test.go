package backend

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/pki"
)

// startNginx runs a real nginx with the directives in its server block, and returns its address.
func startNginx(t *testing.T, listen, server string) string {
	t.Helper()
	at := nginxtest.FreeAddress(t)
	nginxtest.Start(t, nginxtest.Conf{Workers: 1, HTTP: fmt.Sprintf("server { listen %s %s;\n%s\n}", at, listen, server)})
	return at
}

func TestFastCGIThroughNginx(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: FastCGI, Rules: []Rule{
		{Path: "/large", Answer: Answer{Bytes: 300_000}}, {Path: "/reset", Answer: Answer{Break: Reset}}}})
	at := startNginx(t, "", fmt.Sprintf(`
    fastcgi_param REQUEST_METHOD $request_method;
    fastcgi_param SERVER_PROTOCOL $server_protocol;
    fastcgi_param REQUEST_URI $request_uri;
    fastcgi_param CONTENT_LENGTH $content_length;
    fastcgi_param SCRIPT_FILENAME /srv$fastcgi_script_name;
    fastcgi_index index.php;
    location / { fastcgi_pass %s; }`, p.Addr()))
	response, text := fetch(t, "POST", fmt.Sprintf("http://%s/a%%20b/?x", at), strings.Repeat("abc", 100_000), http.Header{"X-Twice": {"1"}})
	d := described(t, text)
	if d.Path != "/a%20b/?x" || d.Method != "POST" || d.Params["SCRIPT_FILENAME"] != "/srv/a b/index.php" || d.Headers.Get("X-Twice") != "1" {
		t.Errorf("%+v", d)
	}
	if response.Header.Get(RequestHeader) != "1" || response.Header.Get(PodHeader) != "demo/web-1" {
		t.Errorf("%v", response.Header)
	}
	if got := received(t, f, 1)[0]; got.Length != 300_000 || !got.Complete || got.Protocol != "FastCGI" {
		t.Errorf("%d bytes, complete: %t, %s", got.Length, got.Complete, got.Protocol)
	}
	if _, text := fetch(t, "GET", fmt.Sprintf("http://%s/large", at), "", nil); len(text) != 300_000 {
		t.Errorf("%d bytes", len(text))
	}
	if response, _ := fetch(t, "GET", fmt.Sprintf("http://%s/reset", at), "", nil); response.StatusCode != 502 {
		t.Errorf("status %d after a reset", response.StatusCode)
	}
}

func TestGRPCSThroughNginx(t *testing.T) {
	authority := pki.New("authority")
	server, client := authority.Issue("pod", []string{"pod.example"}), authority.Issue("nginx", nil, func(c *x509.Certificate) { c.Subject.Organization = []string{"Tests"} })
	dir := t.TempDir()
	for name, text := range map[string][]byte{"ca": authority.PEM, "certificate": client.Certificate, "key": client.Key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := recording(t)
	p := scripted(t, f, Script{Protocol: GRPCS, Certificate: string(server.Certificate), Key: string(server.Key), ClientCA: string(authority.PEM)})
	at := startNginx(t, "http2", fmt.Sprintf(`
    grpc_ssl_server_name on;
    grpc_ssl_name pod.example;
    grpc_ssl_verify on;
    grpc_ssl_trusted_certificate %[2]s/ca;
    grpc_ssl_certificate %[2]s/certificate;
    grpc_ssl_certificate_key %[2]s/key;
    location / { grpc_pass grpcs://%[1]s; }`, p.Addr(), dir))
	c, err := grpc.NewClient("passthrough:///"+at, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var answer wrapperspb.StringValue
	if err := c.Invoke(t.Context(), "/shop.Cart/Add", wrapperspb.Bytes([]byte("abc")), &answer); err != nil {
		t.Fatal(err)
	}
	if d := described(t, answer.GetValue()); d.Identity.Body != sumOfABC || d.Protocol != "HTTP/2.0" {
		t.Errorf("%+v", d)
	}
	if got := received(t, f, 1)[0]; got.SNI != "pod.example" || got.ClientCertificate != "CN=nginx,O=Tests" || got.GRPC != "/shop.Cart/Add" {
		t.Errorf("%+v", got)
	}
}
