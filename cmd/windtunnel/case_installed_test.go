package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/deploy"
	"windtunnel.dev/deploy/deploytest"
	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/guard"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// staging is a cluster with an installed controller, and with objects of other users.
type staging struct {
	api    *kubeapi.Server
	client kubernetes.Interface
	http   int // nginx's ports
	https  int
}

// newStaging starts an API server and, outside of the harness's drivers, a controller with nginx.
func newStaging(t *testing.T) *staging {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no controller can run on this machine: ", err)
	}
	process, err := guard.New("staging")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.Close() })
	if err := os.Chmod(process.Dir, 0o755); err != nil { // nginx's workers run as another user
		t.Fatal(err)
	}
	api, err := kubeapi.Start(kubeapi.Options{HTTPS: "127.0.0.1:0", Dir: t.TempDir(), AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	first, err := port.Free(6)
	if err != nil {
		t.Fatal(err)
	}
	s := &staging{api: api, client: kubernetes.NewForConfigOrDie(api.Config()), http: first, https: first + 1}
	s.create(t)
	args := []string{
		"--kubeconfig=" + api.Kubeconfig(), "--nginx-root=" + process.Dir, "--configmap=ingress-nginx/controller", "--ingress-class=staging",
		"--publish-status-address=127.0.0.1", "--profiling=false", "--post-shutdown-grace-period=0", "--sync-rate-limit=20",
	}
	for i, name := range []string{"http-port", "https-port", "default-server-port", "status-port", "stream-port", "healthz-port"} {
		args = append(args, fmt.Sprintf("--%s=%d", name, first+i))
	}
	command := exec.Command(built.Command(t, "nginx-ingress-controller"), args...)
	command.Env = append(os.Environ(), "POD_NAME=controller-0", "POD_NAMESPACE=ingress-nginx")
	var log bytes.Buffer
	started, err := process.Start(command, &log)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- started.Wait() }()
	for began := time.Now(); ; {
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", first+5))
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return s
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the controller ended: %v\n%s", err, &log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("the controller does not become healthy: %v", err)
		}
	}
}

// create creates the objects of the controller and of others.
func (s *staging) create(t *testing.T) {
	t.Helper()
	theirs := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: networkingv1.IngressSpec{IngressClassName: new("staging"), Rules: []networkingv1.IngressRule{{Host: "with-canary.test", IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}},
			}}}},
		}}}},
	}
	for _, object := range []runtime.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ingress-nginx"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "redirects-app-root"}}, // the name of a namespace that a case creates
		&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "staging"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ingress-nginx", Name: "controller-0"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "controller", Image: "controller"}}}},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ingress-nginx", Name: "controller", Labels: map[string]string{"their": "label"}},
			Data:       map[string]string{"bind-address": "127.0.0.1", "worker-processes": "2"},
		},
		theirs,
	} {
		if _, err := s.api.Writer().Create(object); err != nil {
			t.Fatal(err)
		}
	}
}

// state describes what is in the cluster, without what the controller writes.
func (s *staging) state(t *testing.T) []string {
	t.Helper()
	ctx := context.Background()
	var all []string
	namespaces, err := s.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range namespaces.Items {
		all = append(all, fmt.Sprint("Namespace ", one.Name, one.UID, one.Labels))
	}
	classes, err := s.client.NetworkingV1().IngressClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range classes.Items {
		all = append(all, fmt.Sprint("IngressClass ", one.Name, one.UID, one.ResourceVersion))
	}
	ingresses, err := s.client.NetworkingV1().Ingresses("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range ingresses.Items {
		all = append(all, fmt.Sprint("Ingress ", one.Namespace, one.Name, one.UID, one.Generation))
	}
	config, err := s.client.CoreV1().ConfigMaps("ingress-nginx").Get(ctx, "controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return append(all, fmt.Sprint("ConfigMap ", config.UID, config.Labels, config.Annotations, config.Data, config.BinaryData))
}

// args returns the command that runs cases on the installation.
func (s *staging) args(dir string, more ...string) []string {
	return append([]string{
		"case", "run", "--kubeconfig", s.api.Kubeconfig(), "--url", fmt.Sprintf("http://localhost:%d", s.http), "--url", fmt.Sprintf("https://localhost:%d", s.https),
		"--ingress-class", "staging", "--pods", "local", "--replicas", "1", "--bundled", "-o", dir,
	}, more...)
}

func TestCasesOnAnInstallation(t *testing.T) {
	t.Parallel()
	s := newStaging(t)
	before := s.state(t)
	unchanged := func(t *testing.T) {
		t.Helper()
		if after := s.state(t); !slices.Equal(before, after) {
			t.Errorf("the cluster has\n%s\nand had\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
		}
	}
	t.Run("cases pass, with the permissions of deploy/cases", func(t *testing.T) { s.passCases(t); unchanged(t) })
	t.Run("cases fail, are void and are skipped", func(t *testing.T) { s.otherCases(t); unchanged(t) })
	t.Run("interrupted", func(t *testing.T) { s.interrupt(t); unchanged(t) })
}

// passing are cases that pass, of every kind: TLS, changes, several pods, mirrors, auth services,
// errors, gRPC, and the ConfigMap.
var passing = []string{
	"auth/basic", "auth/url-removed", "backends/grpc", "backends/https", "canary/header", "canary/promoted", "cors/origin",
	"errors/custom-http-errors", "http/gzip", "mirror/other-path", "redirects/ssl-redirect-config", "routing/rewrite-target", "sessions/default",
}

func files(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, filepath.Join(caseFiles, filepath.FromSlash(name)+".yaml"))
	}
	return all
}

func (s *staging) passCases(t *testing.T) {
	objects, err := deploy.Build("cases", nil)
	if err != nil {
		t.Fatal(err)
	}
	everybody := &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews"}, Verbs: []string{"create"}}}}
	roles := deploytest.NewAuthorizer(append(objects, everybody))
	heal, err := s.api.Inject(roles.Fault(), fault.Scope{Spare: "nginx-ingress-controller/"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), s.args(dir, append([]string{"--config-map", "ingress-nginx/controller"}, files(passing...)...)...), &stdout, &stderr)
	heal()
	if want := fmt.Sprintf("%d cases: %d passed in ", len(passing), len(passing)); code != exitOK || !strings.Contains(stdout.String(), want) {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	if refused, _ := roles.Verdict(); len(refused) > 0 {
		t.Errorf("no role allows %+v", refused)
	}
	result, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	subject := fmt.Sprintf(`"subject": "http://localhost:%d and https://localhost:%d, IngressClass staging of %s, 1 replica"`, s.http, s.https, s.api.TLSConfig().Host)
	for _, want := range []string{subject, `"driver": "installed"`} {
		if !strings.Contains(string(result), want) {
			t.Errorf("result.json lacks %s:\n%.300s", want, result)
		}
	}
}

// wrong is a case that fails: the answer is 404. The reload that it expects cannot be seen.
const wrong = `apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: nothing is found
  pods: {web: {}}
  steps:
  - {apply: extra, expect: {reload: true}}
  - {request: "GET http://wrong.example/", expect: {status: 200}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extra, annotations: {windtunnel.dev/manifest: extra}}
`

func (s *staging) otherCases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	if err := os.WriteFile(file, []byte(wrong), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	all := append(files("redirects/app-root", "redirects/app-root-relative", "redirects/http-redirect-code-301", "routing/rule-without-host"), file)
	code := Main(t.Context(), s.args(filepath.Join(t.TempDir(), "run"), all...), &stdout, &stderr)
	for _, want := range []string{
		"redirects/app-root.yaml: Namespace redirects-app-root: not touched: it exists, and this run did not create it\n",
		"redirects/http-redirect-code-301.yaml: it changes the controller's ConfigMap: allow that with --config-map NAMESPACE/NAME\n",
		"routing/rule-without-host.yaml: its ingress any has a rule without a host, which applies to requests for hosts of others: allow that with --catch-all\n",
		"wrong.yaml:8: GET http://wrong.example/: status is 404, want 200\n",
		"5 cases: 1 passed, 1 failed, 1 void, 2 skipped in ",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if code != exitFailed || t.Failed() {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
}

func (s *staging) interrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil { // until a case has changed the ConfigMap
			found, err := s.client.CoreV1().ConfigMaps("ingress-nginx").Get(ctx, "controller", metav1.GetOptions{})
			if err == nil && found.Data["http-redirect-code"] == "301" {
				return
			}
		}
	}()
	var stdout, stderr bytes.Buffer
	code := Main(ctx, s.args(filepath.Join(t.TempDir(), "run"), append([]string{"--config-map", "ingress-nginx/controller"}, files("redirects/http-redirect-code-301", "redirects/app-root-relative")...)...), &stdout, &stderr)
	if code != exitInterrupted {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
}
