package controller_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/admission"
	"windtunnel.dev/internal/nginxtest"
)

// withWebhook enables the controller's webhook. It fills in hook, which the test must register with
// the API server.
func withWebhook(t *testing.T, hook *admissionregistrationv1.ValidatingWebhook) func(*controller.Config) {
	t.Helper()
	stolen := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	defer stolen.Close()
	pair := stolen.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	both := filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(both, append(cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), 0o600); err != nil {
		t.Fatal(err)
	}
	certificate, err := admission.Load(both, both, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url, none := "https://"+listener.Addr().String()+"/networking/v1/ingresses", admissionregistrationv1.SideEffectClassNone
	*hook = admissionregistrationv1.ValidatingWebhook{
		Name: "validate.nginx.ingress.kubernetes.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none,
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: cert},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"ingresses"}},
		}},
	}
	return func(c *controller.Config) {
		c.Admission = &controller.Admission{Listener: listener, Certificate: certificate}
	}
}

// kubectl applies a manifest and returns the output.
func (r *running) kubectl(manifest string) (string, error) {
	r.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		r.Skip("kubectl is not installed:", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, path, "--kubeconfig="+r.api.Kubeconfig(), "apply", "--server-side", "-f", "-")
	command.Stdin = strings.NewReader(manifest)
	command.Env = []string{"HOME=" + r.TempDir(), "PATH=" + os.Getenv("PATH")}
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err = command.Run()
	return said.String(), err
}

func TestWebhookRefusesBadIngresses(t *testing.T) {
	t.Parallel()
	var hook admissionregistrationv1.ValidatingWebhook
	r := launchAs(t, true, withWebhook(t, &hook))
	r.service(pod(t, "127.88.0.1", "one"))
	r.awaitAnswer("one")
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "ingress-nginx"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook}}
	_, err := r.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{})
	r.must(err)

	manifest := func(name, host, annotation string) string {
		return `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: ` + name + `, namespace: default, annotations: {` + annotation + `}}
spec:
  ingressClassName: nginx
  rules: [{host: ` + host + `, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`
	}
	said, err := r.kubectl(manifest("second", "web.example", ""))
	if err == nil || !strings.Contains(said, `admission webhook "validate.nginx.ingress.kubernetes.io" denied the request: host "web.example" and path "/" is already defined in ingress default/web`) {
		t.Errorf("a host of another ingress: %v\n%s", err, said)
	}
	said, err = r.kubectl(manifest("second", "second.example", "nginx.ingress.kubernetes.io/proxy-connect-timeout: soon"))
	if err != nil || !strings.Contains(said, "Warning: ") || !strings.Contains(said, "proxy-connect-timeout") {
		t.Errorf("a bad value: %v\n%s", err, said)
	}
	text := r.get(r.ports.Health, "", "/metrics")
	for _, want := range []string{"check_errors{", "check_success{", "admission_config_size{", "admission_roundtrip_duration{"} {
		if !strings.Contains(text, "\nnginx_ingress_controller_"+want) {
			t.Errorf("no %s in /metrics", want)
		}
	}
	r.awaitAnswer("one")
}

// nginx -t accepts a port in use, but no later reload would succeed.
func TestTCPServiceCannotHaveTheWebhooksPort(t *testing.T) {
	t.Parallel()
	nginxtest.Find(t, "stream")
	var port string
	enable := withWebhook(t, new(admissionregistrationv1.ValidatingWebhook))
	r := launchAs(t, true, func(c *controller.Config) {
		enable(c)
		_, port, _ = net.SplitHostPort(c.Admission.Listener.Addr().String())
	})
	r.streamService("db", corev1.ProtocolTCP, tcpPod(t, "127.88.0.1", "db"))
	r.streamPorts("tcp-services", map[string]string{port: "default/db:5000"})
	r.service(pod(t, "127.88.0.2", "one"))
	r.awaitAnswer("one")
	for found := r.log.next("finding"); !strings.Contains(found.What, "data."+port+": the controller uses that port for the admission webhook"); {
		found = r.log.next("finding")
	}
}
