package render_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/controller/wire"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
)

var fakeCertificate = sync.OnceValues(func() (*tls.Pair, error) { return tls.Fake(time.Now()) })

const certificateFile = "/etc/ingress-controller/ssl/default-fake-certificate.pem"

// here returns the Input for this machine's nginx, with free ports and its own root, which contains
// all files that nginx reads.
func here(t *testing.T, config map[string]string) (render.Input, *nginx.Nginx) {
	t.Helper()
	program, modules := nginxtest.Find(t, "http_lua")
	base := nginxtest.FreePorts(t, 5)
	data := map[string]string{"bind-address": "127.0.0.1", "worker-processes": "1"}
	for key, value := range config {
		data[key] = value
	}
	parsed, findings := options.Parse(data, options.Defaults(1, false))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	opts := options.Options{
		Config: parsed, DynamicConfiguration: true, Root: nginxtest.Folder(t),
		Ports: options.Ports{HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4},
	}
	in := render.Input{
		Options: opts, Modules: modules, ModulesPath: program.ModulesPath,
		Optional: program.Available(render.OptionalModules()...), HTTP2Directive: program.AtLeast("1.25.1"), FileLimit: 4096,
	}
	furnish(t, in)
	return in, program
}

// furnish creates the folders and files of a root.
func furnish(t *testing.T, in render.Input) {
	t.Helper()
	for _, folder := range []string{"/tmp/nginx", "/var/log/nginx", "/etc/ingress-controller/ssl"} {
		if err := os.MkdirAll(in.Options.Path(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := lua.Write(in.Options.Path("/etc/nginx/lua")); err != nil {
		t.Fatal(err)
	}
	pair, err := fakeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := wire.LuaConfig(&model.Model{DefaultSSLCertificate: &model.SSLCert{PemFileName: in.Options.Path(certificateFile)}}, in.Options)
	if err != nil {
		t.Fatal(err)
	}
	put(t, in, "/etc/nginx/lua/cfg.json", settings)
	put(t, in, certificateFile, []byte(pair.PEM))
}

func put(t *testing.T, in render.Input, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(in.Options.Path(file), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// write renders m to a file and returns its path.
func write(t *testing.T, m *model.Model, in render.Input) string {
	t.Helper()
	m.DefaultSSLCertificate = &model.SSLCert{PemFileName: in.Options.Path(certificateFile)}
	conf, err := render.Render(m, in)
	if err != nil {
		t.Fatal(err)
	}
	put(t, in, "/etc/nginx/nginx.conf", conf)
	return in.Options.Path("/etc/nginx/nginx.conf")
}

// taken checks that nginx accepts the configuration of m.
func taken(t *testing.T, m *model.Model, in render.Input, program *nginx.Nginx) {
	t.Helper()
	nginxtest.Accepts(t, program, write(t, m, in))
}

// site is a running nginx.
type site struct {
	*testing.T
	options.Ports
	nginx   *nginxtest.Nginx
	root    string
	preface string // sent at the start of each connection: a PROXY protocol header, or nothing
}

// serve starts nginx with m and posts the backends to Lua.
func serve(t *testing.T, m *model.Model, in render.Input, program *nginx.Nginx) *site {
	t.Helper()
	running := nginxtest.StartFile(t, program, write(t, m, in), in.Options.Path("/var/log/nginx/error.log"))
	s := &site{T: t, Ports: in.Options.Ports, nginx: running, root: in.Options.Root}
	if in.Options.Config.UseProxyProtocol {
		s.preface = "PROXY TCP4 127.0.0.1 127.0.0.1 1 80\r\n"
	}
	body, err := wire.Backends(m, in.Options)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/configuration/backends", s.Status), "application/json", bytes.NewReader(body.Body()))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("POST of backends: %s", response.Status)
	}
	running.Await("the backends in Lua, in the only worker", func() bool {
		return s.ask("known.example", "/", nil).Status == http.StatusOK
	})
	return s
}

// ask sends a request. If change is not nil, it modifies the request first.
func (s *site) ask(host, path string, change func(*http.Request)) nginxtest.Answer {
	s.Helper()
	transport := http.DefaultTransport
	if s.preface != "" {
		transport = &http.Transport{DisableKeepAlives: true, DialContext: s.dial}
	}
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", s.HTTP, path), nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Host = host
	if change != nil {
		change(request)
	}
	return nginxtest.Do(s.T, nginxtest.Client(transport), request)
}

// dial connects and sends the preface.
func (s *site) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, s.preface); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// pod is a server with its own address.
func pod(t *testing.T, handler http.HandlerFunc) model.Endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // gRPC
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return endpointOf(listener)
}

func endpointOf(listener net.Listener) model.Endpoint {
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	return model.Endpoint{Address: host, Port: port}
}

// hosts returns a model with one pod. The location "/" of each host is as given; known.example has
// a plain location.
func hosts(in render.Input, endpoint model.Endpoint, wishes map[string]func(*model.Location)) *model.Model {
	m := &model.Model{Backends: model.NewBackendList(model.Backends{
		{Name: "demo-web-80", Endpoints: []model.Endpoint{endpoint}},
		{Name: model.DefaultBackendName, Endpoints: []model.Endpoint{{Address: "127.0.0.1", Port: fmt.Sprint(in.Options.Ports.Default)}}},
	})}
	add := func(host string, wish func(*model.Location)) {
		location := plain(in, "/", "demo-web-80")
		if wish != nil {
			wish(location)
		}
		m.Servers = append(m.Servers, &model.Server{Hostname: host, Locations: []*model.Location{location}})
	}
	add(model.DefaultServerName, nil)
	add("known.example", nil)
	for host, wish := range wishes {
		add(host, wish)
	}
	return m
}

// plain returns a location without any settings.
func plain(in render.Input, path, backend string) *model.Location {
	ingress := new(networkingv1.Ingress)
	ingress.Namespace, ingress.Name = "demo", "web"
	set, _, _ := annotations.Parse(ingress, in.Options)
	return &model.Location{
		Path: path, PathType: new(networkingv1.PathTypePrefix), Backend: backend, Ingress: &model.Ingress{Ingress: ingress, ParsedAnnotations: &set},
		Location: annotations.Location{Proxy: set.Proxy, Logs: annotations.Logs{Access: true}, EnableGlobalAuth: true},
	}
}

// addBackends adds backends to a model.
func addBackends(m *model.Model, more ...*model.Backend) {
	m.Backends = model.NewBackendList(append(m.Backends.Slice(), more...))
}
