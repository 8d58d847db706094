package controller_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/watch"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/kubeapi"
)

// limit bounds each wait. It only elapses when a test fails.
const limit = 2 * time.Minute

// record is a log record, as the harness reads it.
type record struct {
	Msg    string
	Took   time.Duration
	Reload bool
	Why    []string
	Posts  []apply.Post
	Phases apply.Phases
	Error  string
	Change uint64
	What   string
	Diff   string
}

// records receives the lines of a log as they are written.
type records struct {
	t     *testing.T
	lines chan record
}

func (r records) Write(line []byte) (int, error) {
	var parsed record
	if err := json.Unmarshal(line, &parsed); err != nil {
		return 0, err
	}
	r.lines <- parsed
	return r.t.Output().Write(line)
}

// next returns the next record with this msg.
func (r records) next(msg string) record {
	r.t.Helper()
	timeout := time.After(limit)
	for {
		select {
		case line := <-r.lines:
			if line.Msg == msg {
				return line
			}
		case <-timeout:
			r.t.Fatalf("no record %q", msg)
		}
	}
}

// running is a controller with its nginx, its API server and its pods.
type running struct {
	*testing.T
	api    *kubeapi.Server
	client kubernetes.Interface
	root   string
	ports  options.Ports
	log    records
	stop   func() error
	ended  func() error // waits until the controller ends by itself
}

// launch starts a controller in a cluster with the objects that the functions create.
func launch(t *testing.T, dynamic bool, create ...func(*running)) *running {
	t.Helper()
	return launchAs(t, dynamic, func(*controller.Config) {}, create...)
}

// launchAs is like launch; change may modify the controller's configuration.
func launchAs(t *testing.T, dynamic bool, change func(*controller.Config), create ...func(*running)) *running {
	t.Helper()
	return launchUntil(t, context.Background(), dynamic, change, create...)
}

// launchUntil is like launchAs; hurry bounds the graceful shutdown.
func launchUntil(t *testing.T, hurry context.Context, dynamic bool, change func(*controller.Config), create ...func(*running)) *running {
	t.Helper()
	program, _ := nginxtest.Find(t, "http_lua")
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	client, err := kubernetes.NewForConfig(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	root := nginxtest.Folder(t)
	health := listenOutsideEphemeral(t)
	r := &running{T: t, api: api, client: client, root: root, ports: freePorts(t), log: records{t, make(chan record, 1000)}}
	r.ports.Health = health.Addr().(*net.TCPAddr).Port
	r.describeController()
	for _, f := range create {
		f(r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	config := controller.Config{
		Client:    client,
		Watch:     watch.Options{IngressClass: "nginx", ControllerClass: "k8s.io/ingress-nginx", ConfigMaps: []types.NamespacedName{configMap, tcpServices, udpServices}, DeepInspect: true},
		Pod:       &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "controller"}},
		ConfigMap: configMap,
		Options:   options.Options{DynamicConfiguration: dynamic, ReportWorkers: true, Ports: r.ports, Root: root, TCPServices: tcpServices, UDPServices: udpServices},
		Nginx:     program,
		Lua:       lua.FS,
		SyncRate:  1000,
		Retry:     apply.Retry(3),
		Health:    health,
		Metrics:   metrics.New(metrics.Options{Identity: metrics.Identity{Namespace: "default", Pod: "controller"}, Full: true, Requests: metrics.DefaultRequests, Admission: true}),
		Log:       slog.New(slog.NewJSONHandler(r.log, nil)),
		Stderr:    t.Output(),
	}
	change(&config)
	go func() { ended <- controller.Run(ctx, hurry, config) }()
	stopped := false
	r.ended = func() error { stopped = true; return <-ended }
	r.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var (
	configMap   = types.NamespacedName{Namespace: "default", Name: "controller"}
	tcpServices = types.NamespacedName{Namespace: "default", Name: "tcp-services"}
	udpServices = types.NamespacedName{Namespace: "default", Name: "udp-services"}
)

func (r *running) describeController() {
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}
	_, err := r.client.NetworkingV1().IngressClasses().Create(r.Context(), class, metav1.CreateOptions{})
	r.must(err)
	r.configure(map[string]string{}, r.client.CoreV1().ConfigMaps("default").Create)
}

// configure writes the ConfigMap: data, and defaults that every test needs.
func (r *running) configure(data map[string]string, write any) {
	r.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "controller"}, Data: map[string]string{
		"worker-processes": "2", "bind-address": "127.0.0.1",
	}}
	for key, value := range data {
		object.Data[key] = value
	}
	var err error
	switch write := write.(type) {
	case func(context.Context, *corev1.ConfigMap, metav1.CreateOptions) (*corev1.ConfigMap, error):
		_, err = write(r.Context(), object, metav1.CreateOptions{})
	case func(context.Context, *corev1.ConfigMap, metav1.UpdateOptions) (*corev1.ConfigMap, error):
		_, err = write(r.Context(), object, metav1.UpdateOptions{})
	}
	r.must(err)
}

func (r *running) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// listenOutsideEphemeral listens on a port that the kernel never assigns to a pod: an endpoint with
// the number of a protected port is left out.
func listenOutsideEphemeral(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nginxtest.FreePorts(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func freePorts(t *testing.T) options.Ports {
	t.Helper()
	base := nginxtest.FreePorts(t, 5)
	return options.Ports{HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4}
}

// pod starts a server on its own address that answers with its name.
func pod(t *testing.T, address, name string) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, name)
	})}}
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().(*net.TCPAddr)
}

// service creates a Service, its EndpointSlice and an ingress for the host web.example.
func (r *running) service(pod *net.TCPAddr) {
	r.Helper()
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web"}
	class, prefix := "nginx", networkingv1.PathTypePrefix
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt(8080)}}}}
	ingress := &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{IngressClassName: &class, Rules: []networkingv1.IngressRule{{
		Host: "web.example",
		IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
			Path: "/", PathType: &prefix,
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
		}}}},
	}}}}
	_, err := r.client.CoreV1().Services("default").Create(r.Context(), service, metav1.CreateOptions{})
	r.must(err)
	_, err = r.client.DiscoveryV1().EndpointSlices("default").Create(r.Context(), slice(pod), metav1.CreateOptions{})
	r.must(err)
	_, err = r.client.NetworkingV1().Ingresses("default").Create(r.Context(), ingress, metav1.CreateOptions{})
	r.must(err)
}

func slice(pod *net.TCPAddr) *discoveryv1.EndpointSlice {
	port, name := int32(pod.Port), ""
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{pod.IP.String()}}},
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
}

// move makes another pod the only one of the service.
func (r *running) move(pod *net.TCPAddr) {
	r.Helper()
	_, err := r.client.DiscoveryV1().EndpointSlices("default").Update(r.Context(), slice(pod), metav1.UpdateOptions{})
	r.must(err)
}

// awaitAnswer sends requests for web.example to nginx until it gets the answer.
func (r *running) awaitAnswer(want string) {
	r.Helper()
	var got string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = r.get(r.ports.HTTP, "web.example", "/"); got == want {
			return
		}
	}
	r.Fatalf("nginx answers %q, want %q", got, want)
}

func (r *running) get(port int, host, path string) string {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), nil)
	r.must(err)
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Sprintf("%d %s", response.StatusCode, body)
	}
	return string(body)
}

func (r *running) master() int {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.root, "tmp/nginx/nginx.pid"))
	r.must(err)
	var pid int
	_, err = fmt.Fscan(bytes.NewReader(text), &pid)
	r.must(err)
	return pid
}

// workers returns the PIDs of the workers that are not draining.
func (r *running) workers() []int {
	r.Helper()
	all, err := nginx.Workers(r.master())
	r.must(err)
	var pids []int
	for _, worker := range all {
		if !worker.Draining {
			pids = append(pids, worker.PID)
		}
	}
	return pids
}

// alive reports whether a process runs. A zombie does not count: a worker of a dead master may be a
// zombie until its new parent reaps it.
func alive(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	stat, err := process.Stat()
	return err == nil && stat.State != "Z"
}

// awaitSync returns the next sync record for which ok returns true.
func (r *running) awaitSync(ok func(record) bool) record {
	r.Helper()
	for {
		if sync := r.log.next("sync"); ok(sync) {
			return sync
		}
	}
}
