package attack_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller"
	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/watch"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/kubeapi"
)

// portSite is a real controller with a real nginx, whose DNS resolves every name to loopback.
type portSite struct {
	*testing.T
	client  kubernetes.Interface
	ports   options.Ports
	root    string
	created int // number of names
}

// insides returns n notations of loopback addresses, or names that resolve to one. With addresses
// set, it leaves out everything that Go does not parse as an address.
func insides(random *rand.Rand, addresses bool, n int) []string {
	all := []string{
		"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0", "0.0.0.0", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1", "017700000001",
		"0177.0.0.1", "0127.0.0.1", "127.0.0.1.", "localhost", "LocalHost", "localhost.", "a.localhost", "inside.test", "inside.test.", "v6.inside.test",
		"mapped.inside.test", "127.0.0.1.inside.test", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[::FFFF:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::ffff:0.0.0.0]", "[::127.0.0.1]",
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	isNone := func(host string) bool {
		_, err := netip.ParseAddr(strings.Trim(host, "[]"))
		return addresses && err != nil
	}
	for all = slices.DeleteFunc(all, isNone); len(all) < n; all = slices.DeleteFunc(all, isNone) {
		all = append(all, []string{
			fmt.Sprintf("127.%d.%d.%d", random.IntN(256), random.IntN(256), random.IntN(256)),
			fmt.Sprintf("%0*d.%0*d.0.%0*d", 3+random.IntN(3), 127, random.IntN(4), 0, random.IntN(4), 1),
			fmt.Sprintf("n%d.inside.test", random.IntN(1e6)),
			fmt.Sprintf("%d.%d", 127, random.IntN(1<<24)),
			fmt.Sprintf("0x%X", 127<<24|random.IntN(1<<24)),
			fmt.Sprintf("[::ffff:7f%02x:%x]", random.IntN(256), random.IntN(1<<16)),
			fmt.Sprintf("[0:0:0:0:0:%s:127.0.0.%d]", []string{"ffff", "FFFF", "fFfF"}[random.IntN(3)], random.IntN(256)),
		}[random.IntN(7)])
	}
	return all[:n]
}

// route is a way in which an ingress can name an address.
type route struct {
	name      string
	speaks    bool // speaks HTTP, so that it can reach a pod next to the controller
	addresses bool // addresses only, no names
	// lead routes NAME.example to a path at an address. It returns false if the API rejects that.
	lead func(s *portSite, name, host string, port int, path string) bool
}

var routes = []route{
	{"auth-url", true, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.ingress(name, "plain", "auth-url", fmt.Sprintf("http://%s:%d%s", host, port, path))
	}},
	{"auth-url with keepalive", true, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.ingress(name, "plain", "auth-url", fmt.Sprintf("http://%s:%d%s", host, port, path), "auth-keepalive", "2")
	}},
	{"auth-url with variables", true, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.ingress(name, "plain", "auth-url", "http://$http_x_to"+path)
	}},
	{"mirror-target", true, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.ingress(name, "inward", "mirror-target", fmt.Sprintf("http://%s:%d%s", host, port, path))
	}},
	{"mirror-target with variables", true, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.ingress(name, "inward", "mirror-target", fmt.Sprintf("http://%s:$http_x_port%s", host, path))
	}},
	{"an ExternalName", true, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.external(name, strings.Trim(host, "[]"), port) && s.ingress(name, name)
	}},
	{"an EndpointSlice", true, true, func(s *portSite, name, host string, port int, path string) bool {
		return s.slice(name, strings.Trim(host, "[]"), port) && s.ingress(name, name)
	}},
	{"a default backend", true, true, func(s *portSite, name, host string, port int, path string) bool {
		return s.slice(name, strings.Trim(host, "[]"), port) && s.ingress(name, "nobody", "default-backend", name)
	}},
	{"gRPC", false, true, func(s *portSite, name, host string, port int, path string) bool {
		return s.slice(name, strings.Trim(host, "[]"), port) && s.ingress(name, name, "backend-protocol", "GRPC")
	}},
	{"FastCGI", false, false, func(s *portSite, name, host string, port int, path string) bool {
		return s.external(name, strings.Trim(host, "[]"), port) && s.ingress(name, name, "backend-protocol", "FCGI")
	}},
}

// portTry is an ingress that leads to a protected port, see lua/protected_ports.lua.
type portTry struct {
	route
	name, host, path string
	port             int
	row              *attack.Row
}

// batch is the number of tries at once: nginx reads all of them at each reload.
const batch = 400

// TestProtectedPorts tries to reach the protected ports of nginx and the controller, in every way
// that an ingress can name an address. A pod on loopback next to the controller, which may be
// reached, shows that each way works.
func TestProtectedPorts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	s := newPortSite(t)
	beside := s.listen("127.0.0.1", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "beside") })
	var rows []*attack.Row
	var tries []portTry
	for _, protected := range []struct {
		name, path string
		port       int
	}{
		{"status port", "/configuration/backends", s.ports.Status}, {"stream port", "/", s.ports.Stream},
		{"metrics and health", "/metrics", s.ports.Health}, {"profiler", "/debug/pprof/cmdline", s.ports.Profiler},
	} {
		for _, kind := range routes {
			row := &attack.Row{Target: protected.name, Attack: "reached through " + kind.name, Success: "a response 200 of the port, or a mirrored request changes the backends"}
			rows = append(rows, row)
			n := attack.Times(3, 100)
			if kind.addresses {
				n *= 3 // the API accepts few of them
			}
			for _, host := range insides(random, kind.addresses, n) {
				tries = append(tries, portTry{route: kind, host: host, path: protected.path, port: protected.port, row: row})
			}
		}
	}
	random.Shuffle(len(tries), func(i, j int) { tries[i], tries[j] = tries[j], tries[i] })
	for part := range slices.Chunk(tries, batch) {
		part = s.create(part)
		s.settle(s.ways(beside))
		before := s.backends()
		var asking errgroup.Group
		asking.SetLimit(8)
		var landed sync.Mutex
		for _, try := range part {
			asking.Go(func() error {
				if text := s.enters(try); text != "" {
					landed.Lock()
					defer landed.Unlock()
					t.Errorf("%s, %s as %s: %s", try.row.Target, try.row.Attack, try.host, text)
					try.row.Landed++
				}
				return nil
			})
		}
		asking.Wait()
		if after := s.backends(); after != before {
			t.Errorf("the backends have changed: %.100s", after)
			part[0].row.Landed++ // by one of the mirrored requests
		}
		s.clear()
	}
	for _, row := range rows {
		attack.Report(t, *row)
	}
}

// fresh returns an unused name.
func (s *portSite) fresh() string {
	s.created++
	return fmt.Sprintf("t%d", s.created)
}

// create creates the ingresses, and returns those that the API accepted.
func (s *portSite) create(tries []portTry) (made []portTry) {
	for _, try := range tries {
		try.name = s.fresh()
		if try.lead(s, try.name, try.host, try.port, try.path) {
			try.row.Tried++
			made = append(made, try)
		}
	}
	return made
}

// ways creates, for each kind that speaks HTTP, an ingress to a pod on loopback, whose port is not
// protected.
func (s *portSite) ways(port int) (made []portTry) {
	for _, kind := range routes {
		for _, host := range []string{"inside.test", "127.0.0.1"} {
			name := s.fresh()
			if kind.speaks && kind.lead(s, name, host, port, "/") {
				made = append(made, portTry{route: kind, name: name, host: host, path: "/", port: port})
				break
			}
		}
	}
	return made
}

// enters returns the answer of a protected port; empty if it cannot be reached.
func (s *portSite) enters(try portTry) string {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		status, body := s.ask(method, try.name+".example", try.path, try.host, try.port)
		if status == http.StatusOK && body != "inward" {
			return fmt.Sprintf("%s answers 200 %.60q", method, body)
		}
	}
	return ""
}

// names starts a DNS server that resolves every name to loopback: v6.… to the IPv6 address,
// mapped.… to the IPv4-mapped address, others to the IPv4 address.
func names(t *testing.T) net.Addr {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.88.251.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for packet := make([]byte, 512); ; {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			var message dnsmessage.Message
			if message.Unpack(packet[:size]) != nil || len(message.Questions) != 1 {
				continue
			}
			question := message.Questions[0]
			message.Header = dnsmessage.Header{ID: message.ID, Response: true, RecursionAvailable: true}
			message.Additionals = nil
			header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 60}
			label, _, _ := strings.Cut(question.Name.String(), ".")
			six := map[string]string{"v6": "::1", "mapped": "::ffff:127.0.0.1"}[label]
			switch {
			case question.Type == dnsmessage.TypeA && six == "":
				message.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
			case question.Type == dnsmessage.TypeAAAA && six != "":
				message.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(six).As16()}}}
			}
			if answer, err := message.Pack(); err == nil {
				conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr()
}

// luaAsking returns our Lua code with a replaced nameserver.
func luaAsking(t *testing.T, nameserver net.Addr) fs.FS {
	t.Helper()
	copied := fstest.MapFS{}
	err := fs.WalkDir(lua.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(lua.FS, path)
		copied[path] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(nameserver.String())
	copied["util/resolv_conf.lua"].Data = fmt.Appendf(nil, "return { nameservers = { { %q, %s } }, search = {}, ndots = 1 }\n", host, port)
	return copied
}

func newPortSite(t *testing.T) *portSite {
	t.Helper()
	program, _ := nginxtest.Find(t, "http_lua")
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	client, err := kubernetes.NewForConfig(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	base := nginxtest.FreePorts(t, 5)
	var own [2]net.Listener
	for i := range own {
		if own[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	s := &portSite{T: t, client: client, root: nginxtest.Folder(t), ports: options.Ports{
		HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4,
		Health: own[0].Addr().(*net.TCPAddr).Port, Profiler: own[1].Addr().(*net.TCPAddr).Port,
	}}
	nameserver := names(t)
	configMap := types.NamespacedName{Namespace: "default", Name: "controller"}
	s.must(client.NetworkingV1().IngressClasses().Create(t.Context(), &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}, metav1.CreateOptions{}))
	s.must(client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "controller"}, Data: map[string]string{
		"worker-processes": "1", "bind-address": "127.0.0.1", "use-http2": "false",
		"server-snippet": fmt.Sprintf("resolver %s; resolver_timeout 2s;", nameserver),
	}}, metav1.CreateOptions{}))
	s.pod("plain", "127.90.1.1", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	s.pod("inward", "127.90.1.2", s.inward())
	s.must(client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- controller.Run(ctx, context.Background(), controller.Config{
			Client: client, ConfigMap: configMap, Nginx: program, Lua: luaAsking(t, nameserver),
			Watch:    watch.Options{IngressClass: "nginx", ControllerClass: "k8s.io/ingress-nginx", ConfigMaps: []types.NamespacedName{configMap}, DeepInspect: true},
			Pod:      &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "controller"}},
			Options:  options.Options{DynamicConfiguration: true, Ports: s.ports, Root: s.root},
			SyncRate: 1000,
			Retry:    apply.Retry(3),
			Health:   own[0],
			Profiler: own[1],
			Metrics:  metrics.New(metrics.Options{Requests: metrics.DefaultRequests}),
			Log:      slog.New(slog.DiscardHandler),
			Stderr:   io.Discard,
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *portSite) must(_ any, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// inward returns the handler of a pod that lets nginx return the response to a mirrored request, if
// there is one.
func (s *portSite) inward() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conf, _ := os.ReadFile(filepath.Join(s.root, "etc/nginx/nginx.conf"))
		host := r.Header.Get("X-Forwarded-Host")
		_, rest, _ := strings.Cut(string(conf), "## start server "+host+"\n")
		server, _, _ := strings.Cut(rest, "## end server "+host+"\n")
		if _, rest, mirrored := strings.Cut(server, "\tmirror \""); mirrored {
			source, _, _ := strings.Cut(rest, "\"")
			w.Header().Set("X-Accel-Redirect", source)
			return
		}
		io.WriteString(w, "inward")
	}
}

// listen serves at an address and returns the port.
func (s *portSite) listen(address string, handler http.HandlerFunc) int {
	s.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		s.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go server.Serve(listener)
	s.Cleanup(func() { server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// pod creates a service with a pod.
func (s *portSite) pod(name, address string, handler http.HandlerFunc) {
	s.Helper()
	s.slice(name, address, s.listen(address, handler))
}

// slice creates a service with an endpoint. It returns false if the API rejects it.
func (s *portSite) slice(name, address string, port int) bool {
	s.Helper()
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false // neither Kubernetes nor the simulation accepts it
	}
	family := discoveryv1.AddressTypeIPv4
	if ip.Is6() {
		family = discoveryv1.AddressTypeIPv6
	}
	s.must(s.client.CoreV1().Services("default").Create(s.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt(port)}}}}, metav1.CreateOptions{}))
	_, err = s.client.DiscoveryV1().EndpointSlices("default").Create(s.Context(), &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: family,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:       []discoveryv1.EndpointPort{{Name: new(""), Port: new(int32(port))}},
	}, metav1.CreateOptions{})
	return err == nil
}

// external creates a service of type ExternalName. It returns false if the API rejects it.
func (s *portSite) external(name, host string, port int) bool {
	_, err := s.client.CoreV1().Services("default").Create(s.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: host, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt(port)}},
	}}, metav1.CreateOptions{})
	return err == nil
}

// ingress routes NAME.example to a service. It returns false if the API rejects it. annotations are
// pairs of keys and values.
func (s *portSite) ingress(name, service string, annotations ...string) bool {
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		ingress.Annotations["nginx.ingress.kubernetes.io/"+annotations[i]] = annotations[i+1]
	}
	ingress.Spec = networkingv1.IngressSpec{IngressClassName: new("nginx"), Rules: []networkingv1.IngressRule{{
		Host: name + ".example",
		IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
			Path: "/", PathType: new(networkingv1.PathTypePrefix),
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: 80}}},
		}}}},
	}}}
	_, err := s.client.NetworkingV1().Ingresses("default").Create(s.Context(), ingress, metav1.CreateOptions{})
	return err == nil
}

// settle waits until all ways work: then nginx serves everything that was created before them, with
// the addresses from DNS.
func (s *portSite) settle(ways []portTry) {
	s.Helper()
	end := time.Now().Add(time.Minute)
	for _, way := range ways {
		for s.enters(way) == "" {
			if time.Now().After(end) {
				s.Fatalf("%s to %s:%d does not work", way.route.name, way.host, way.port)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// clear deletes the ingresses of the tries.
func (s *portSite) clear() {
	s.must(nil, s.client.NetworkingV1().Ingresses("default").DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// ask sends a request for a path of a host. Headers carry the address and port for ingresses that
// use variables.
func (s *portSite) ask(method, host, path, to string, port int) (status int, body string) {
	request, err := http.NewRequestWithContext(s.Context(), method, fmt.Sprintf("http://127.0.0.1:%d%s", s.ports.HTTP, path), strings.NewReader("[]"))
	s.must(nil, err)
	request.Host = host
	request.Header.Set("X-To", fmt.Sprintf("%s:%d", to, port))
	request.Header.Set("X-Port", strconv.Itoa(port))
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, err.Error() // nginx is not running yet
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// backends returns nginx's backends, as a tool in the pod reads them.
func (s *portSite) backends() string {
	s.Helper()
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/configuration/backends", s.ports.Status))
	s.must(nil, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	s.must(text, err)
	return string(text)
}
