package backend

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/pki"
)

// startNginx runs a real nginx with the directives in its server block, and returns its address.
// Files are named relative to dir.
func startNginx(t *testing.T, dir, listen, server string) netip.AddrPort {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	found, err := nginx.Find("")
	if err != nil {
		t.Skip(err)
	}
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(freePort(t)))
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // the worker writes where only root can
	}
	conf := fmt.Sprintf(user+`daemon off;
pid pid;
error_log stderr crit;
worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen %s %s;
    %s
  }
}
`, at, listen, server)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(found.Binary, "-e", "stderr", "-p", dir, "-c", path)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		command.Wait()
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		conn, err := net.Dial("tcp", at.String())
		if err == nil {
			conn.Close()
			return at
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not listen: %v", err)
		}
	}
}

func TestFastCGIThroughNginx(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: FastCGI, Rules: []Rule{
		{Path: "/large", Answer: Answer{Bytes: 300_000}}, {Path: "/reset", Answer: Answer{Break: Reset}}}})
	at := startNginx(t, t.TempDir(), "", fmt.Sprintf(`
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
	at := startNginx(t, dir, "http2", fmt.Sprintf(`
    grpc_ssl_server_name on;
    grpc_ssl_name pod.example;
    grpc_ssl_verify on;
    grpc_ssl_trusted_certificate %[2]s/ca;
    grpc_ssl_certificate %[2]s/certificate;
    grpc_ssl_certificate_key %[2]s/key;
    location / { grpc_pass grpcs://%[1]s; }`, p.Addr(), dir))
	c, err := grpc.NewClient("passthrough:///"+at.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
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
