package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/deploy/deploytest"
	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/subject"
)

// The controller of a run with several namespaces serves an ingress in each of them with the roles that it
// gets, and none in a namespace of others. Then everything is removed.
func TestServeSeveralNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	s := newSite(t)
	i, err := s.prepareIn(t, s.open(t, s.options()), subject.Subject{
		Name: "subject", Controller: subject.Bundled, Config: map[string]string{"bind-address": "127.0.0.1", "worker-processes": "1"},
	}, "demo", "shop")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := cluster.New(i.API())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "pod of ", r.Host) }))
	t.Cleanup(web.Close)
	client := driver.Routed(plain, i)
	s.put(t, client, "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}")
	for _, namespace := range []string{"demo", "shop"} {
		s.put(t, client, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+", labels: {team: "+namespace+"}}}")
		s.expose(t, client, namespace, "nginx", web.Listener.Addr().String())
	}
	s.put(t, plain, "{apiVersion: v1, kind: Namespace, metadata: {name: others}}")
	s.expose(t, plain, "others", i.home.name()+"-nginx", web.Listener.Addr().String())
	if err := i.start(t.Context(), i.install, i.awaitController); err != nil {
		t.Fatal(err)
	}

	nginx, end := s.run(t, i)
	for host, want := range map[string]string{"demo.example": "pod of demo.example", "shop.example": "pod of shop.example"} {
		awaitBody(t, nginx, host, want)
	}
	if status, _ := get(nginx, "others.example"); status != http.StatusNotFound {
		t.Errorf("a host of others: status %d, want 404", status)
	}
	end()
	s.end(t, i)
}

// expose writes a service with one pod, and an ingress that routes the host NAMESPACE.example to it.
func (s *site) expose(t *testing.T, client *cluster.Client, namespace, class, pod string) {
	t.Helper()
	at := netip.MustParseAddrPort(pod)
	for _, text := range []string{
		"{apiVersion: v1, kind: Service, metadata: {namespace: NS, name: web}, spec: {ports: [{name: http, port: 80, targetPort: 8080}]}}",
		"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {namespace: NS, name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{name: http, protocol: TCP, port: " + fmt.Sprint(at.Port()) + "}], endpoints: [{addresses: [" + at.Addr().String() + "], conditions: {ready: true}}]}",
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: NS, name: web}, spec: {ingressClassName: " + class + ", rules: [{host: NS.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}",
	} {
		s.put(t, client, strings.ReplaceAll(text, "NS", namespace))
	}
}

// run starts the program of the controller's pod on this machine, with the permissions of the roles that
// the run wrote. It returns the address of its nginx; end stops it and checks that it needed no others.
func (s *site) run(t *testing.T, i *instance) (nginx string, end func()) {
	t.Helper()
	roles := deploytest.NewAuthorizer(s.roles(t))
	if _, err := s.server.Inject(roles.Fault(), fault.Scope{UserAgent: "nginx-ingress-controller/"}); err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("", "several-namespaces-") // nginx's workers cannot read t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	flags := []string{"http-port", "https-port", "default-server-port", "status-port", "healthz-port", "stream-port", "profiler-port"}
	base, err := port.Free(len(flags))
	if err != nil {
		t.Fatal(err)
	}
	pod := s.controllerPod(t, i)
	var args []string
	for _, arg := range pod.Spec.Containers[0].Args {
		args = append(args, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", pod.Namespace))
	}
	for n, flag := range flags {
		args = append(args, fmt.Sprintf("--%s=%d", flag, base+n))
	}
	args = append(args, "--healthz-host=127.0.0.1", "--nginx-root="+root, "--kubeconfig="+s.server.Kubeconfig())
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(built.Command(t, "nginx-ingress-controller"), args...)
	command.Env = append(os.Environ(), "POD_NAMESPACE="+pod.Namespace, "POD_NAME="+pod.Name)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Error("the controller ended: ", err)
		}
		refused, _ := roles.Verdict()
		for _, one := range refused {
			t.Errorf("no role allows a request of the controller: %+v", one)
		}
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("log of the controller:\n%s", text)
		}
		log.Close()
	})
	t.Cleanup(end)
	return fmt.Sprintf("http://127.0.0.1:%d/", base), end
}

// roles returns all roles in the cluster.
func (s *site) roles(t *testing.T) (all []runtime.Object) {
	t.Helper()
	wide, err := s.client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range wide.Items {
		all = append(all, &one)
	}
	list, err := s.client.RbacV1().Roles("").List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Items {
		all = append(all, &one)
	}
	return all
}

// get requests a host from nginx.
func get(nginx, host string) (status int, body string) {
	request, err := http.NewRequest(http.MethodGet, nginx, nil)
	if err != nil {
		return 0, err.Error()
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

// awaitBody repeats a request until it gets the wanted answer.
func awaitBody(t *testing.T, nginx, host, want string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, last = get(nginx, host)
		return last == want, nil
	})
	if err != nil {
		t.Errorf("%s: %v; the last answer was %q, want %q", host, err, last, want)
	}
}
