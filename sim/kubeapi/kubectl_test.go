package kubeapi

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
)

const shop = `
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: default}
spec: {clusterIP: 10.96.7.7, selector: {app: shop}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: default}
spec:
  ingressClassName: nginx
  tls: [{hosts: [shop.example], secretName: shop}]
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}]}
`

// kubectl runs the kubectl command with a configuration that contains only the server under test.
type kubectl struct {
	*testing.T
	path, config, home string
}

func newKubectl(t *testing.T, s *Server) kubectl {
	if testing.Short() {
		t.Skip("needs kubectl; not run with -short")
	}
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed:", err)
	}
	return kubectl{t, path, s.Kubeconfig(), t.TempDir()}
}

func (k kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, k.path, args...)
	cmd.Env = []string{"KUBECONFIG=" + k.config, "HOME=" + k.home, "PATH=" + os.Getenv("PATH")}
	return cmd
}

func (k kubectl) run(args ...string) string {
	k.Helper()
	out, err := k.command(k.Context(), args...).CombinedOutput()
	if err != nil {
		k.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (k kubectl) fails(want string, args ...string) {
	k.Helper()
	out, err := k.command(k.Context(), args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		k.Errorf("kubectl %s: %v, output lacks %q:\n%s", strings.Join(args, " "), err, want, out)
	}
}

// varying matches the output that differs from run to run.
var varying = regexp.MustCompile(`(uid: |resourceVersion: |creationTimestamp: ).*|\b\d+s\b|\d{4}-\d\d-\d\dT\S+Z|(?m) +$`)

// columns matches the space between two columns, whose widths depend on the digits of an age.
var columns = regexp.MustCompile(`(\S) {2,}`)

// deletedFrom matches what kubectl 1.33 and later add to the name of a deleted object.
var deletedFrom = regexp.MustCompile(`(?m)^(\S+ "\S+" deleted) from \S+ namespace$`)

// transcript runs commands and records what they print.
func (k kubectl) transcript(commands ...string) []byte {
	k.Helper()
	var all bytes.Buffer
	for _, command := range commands {
		all.WriteString("-- kubectl " + command + " --\n")
		text := deletedFrom.ReplaceAllString(k.run(strings.Fields(command)...), "$1")
		text = varying.ReplaceAllString(text, "$1~")
		all.WriteString(columns.ReplaceAllString(text, "$1   "))
	}
	return all.Bytes()
}

func TestKubectl(t *testing.T) {
	t.Parallel()
	s := start(t)
	k := newKubectl(t, s)
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(shop), 0o644); err != nil {
		t.Fatal(err)
	}
	k.run("create", "--validate=false", "-f", file)
	k.fails(`ingresses.networking.k8s.io "shop" already exists`, "create", "--validate=false", "-f", file)
	golden.Check(t, "testdata/kubectl.txtar", k.transcript(
		"get ingress,svc -A",
		"get ingress shop -o yaml",
		"label svc shop tier=front",
		"annotate ingress shop nginx.ingress.kubernetes.io/ssl-redirect=false",
		`patch svc shop --type=merge -p {"spec":{"ports":[{"port":81}]}}`,
		`patch svc shop -p {"spec":{"ports":[{"port":81,"name":"alt"}]}}`,
		`patch svc shop --type=json -p [{"op":"replace","path":"/spec/ports/0/name","value":"renamed"}]`,
		`patch ingress shop --subresource=status --type=merge -p {"status":{"loadBalancer":{"ingress":[{"ip":"127.0.0.1"}]}}}`,
		"get svc -l tier=front -o wide --show-labels",
		"get ingress -o custom-columns=NAME:.metadata.name,IP:.status.loadBalancer.ingress[0].ip,GENERATION:.metadata.generation",
		"create configmap options --from-literal=a=b",
		"create namespace team",
		"get ns",
		"get configmaps,secrets,leases,endpointslices -A",
		"delete ingress shop",
		"delete namespace team",
		"api-resources --no-headers",
	))
	k.fails(`ingresses.networking.k8s.io "shop" not found`, "get", "ingress", "shop")
	k.fails(`metadata.name: Invalid value: "Team_"`, "create", "namespace", "Team_")
	k.run("delete", "service", "shop")
	k.run("apply", "-f", file)
	if out := k.run("apply", "-f", file); strings.Count(out, "unchanged") != 2 {
		t.Errorf("applied again: %s", out)
	}
	applied(k, file)
	typo := filepath.Join(t.TempDir(), "typo.yaml")
	if err := os.WriteFile(typo, []byte(strings.ReplaceAll(shop, "ingressClassName", "ingressClasName")), 0o644); err != nil {
		t.Fatal(err)
	}
	k.fails(`strict decoding error: unknown field "spec.ingressClasName"`, "apply", "-f", typo)
	if out := k.run("version"); !strings.Contains(out, "Server Version: "+DefaultVersion) {
		t.Errorf("version: %s", out)
	}
}

// applied migrates an object from client-side to server-side apply, and changes it there.
func applied(k kubectl, file string) {
	k.Helper()
	k.run("apply", "--server-side", "-f", file)
	if out := k.run("get", "svc", "shop", "-o", "yaml", "--show-managed-fields"); !strings.Contains(out, "manager: kubectl\n    operation: Apply") ||
		strings.Contains(out, "kubectl-client-side-apply") {
		k.Errorf("owners after the move:\n%s", out)
	}
	k.run("label", "--overwrite", "svc", "shop", "tier=back")
	other := filepath.Join(k.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte("apiVersion: v1\nkind: Service\nmetadata: {name: shop, labels: {tier: front}}\n"), 0o644); err != nil {
		k.Fatal(err)
	}
	k.fails(`conflict with "kubectl-label" using v1: .metadata.labels.tier`, "apply", "--server-side", "--field-manager=other", "-f", other)
	k.run("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", other)
	k.run("apply", "--server-side", "--field-manager=other", "--dry-run=server", "-f", other)
	if out := k.run("get", "svc", "shop", "-o", "jsonpath={.metadata.labels.tier}"); out != "front" {
		k.Errorf("label %q after a forced apply", out)
	}
}

func TestKubectlScale(t *testing.T) {
	t.Parallel()
	s := start(t)
	k := newKubectl(t, s)
	k.run("create", "deployment", "web", "--image=none")
	k.run("scale", "deployment", "web", "--replicas=3")
	k.fails("Expected replicas to be 7, was 3", "scale", "deployment", "web", "--current-replicas=7", "--replicas=1")
	if out := k.run("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.metadata.generation}"); out != "3 2" {
		t.Errorf("replicas and generation %q", out)
	}
	k.run("delete", "deployment", "web", "--cascade=orphan", "--wait=false")
	if out := k.run("get", "deployment", "web", "-o", "jsonpath={.metadata.finalizers}"); out != `["orphan"]` {
		t.Errorf("finalizers %s", out)
	}
}

func TestKubectlOverTLS(t *testing.T) {
	t.Parallel()
	s, err := Start(Options{HTTPS: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	if out := newKubectl(t, s).run("get", "ns", "default", "-o", "name"); out != "namespace/default\n" {
		t.Errorf("printed %q", out)
	}
}

func TestKubectlGetWatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	k := newKubectl(t, s)
	k.run("create", "configmap", "first")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := k.command(ctx, "get", "configmap", "-w", "--output-watch-events")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func(want ...string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("kubectl get -w ended: ", lines.Err())
		}
		if got := strings.Fields(lines.Text()); len(got) < 3 || strings.Join(got[:3], " ") != strings.Join(want, " ") {
			t.Fatalf("printed %q, want %v", lines.Text(), want)
		}
	}
	next("EVENT", "NAME", "DATA")
	next("ADDED", "first", "0")
	k.run("create", "configmap", "second", "--from-literal=a=b")
	next("ADDED", "second", "1")
	k.run("patch", "configmap", "second", "-p", `{"data":{"c":"d"}}`)
	next("MODIFIED", "second", "2")
	k.run("delete", "configmap", "second")
	next("DELETED", "second", "2")
	cancel()
	cmd.Wait() // the error only reports the kill above
}
