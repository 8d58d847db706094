package kubeapi

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// helmCommand is the command of Helm at the version that the test was written with.
const helmCommand = "helm.sh/helm/v3/cmd/helm@v3.22.0"

// newHelm returns a function that runs helm against a server and returns what it prints. Helm is
// that of the machine, or built from its Go module if the module cache contains it.
func newHelm(t *testing.T, s *Server) func(args ...string) (string, error) {
	if testing.Short() {
		t.Skip("needs helm; not run with -short")
	}
	path, err := exec.LookPath("helm")
	if err != nil {
		path = buildHelm(t)
	}
	home := t.TempDir()
	return func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Env = []string{"KUBECONFIG=" + s.Kubeconfig(), "HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

func buildHelm(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	// go run keeps the executable in Go's build cache, so only the first run links it.
	build := exec.CommandContext(t.Context(), "go", "run", "-exec", "cp -t '"+dir+"'", helmCommand)
	build.Env = append(os.Environ(), "GOPROXY=file://"+moduleCache(t)+"/cache/download", "GOSUMDB=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("helm is not installed, and its module is not in Go's module cache (go run %s version puts it there): %v\n%.300s", helmCommand, err, out)
	}
	return filepath.Join(dir, "helm")
}

func moduleCache(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A user installs, tests, upgrades, rolls back and removes a chart with hooks, and waits each time.
func TestHelm(t *testing.T) {
	t.Parallel()
	s := startCluster(t)
	helm, k := newHelm(t, s), newKubectl(t, s)
	chart := t.TempDir()
	for name, text := range helmChart {
		path := filepath.Join(chart, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want string, args ...string) {
		t.Helper()
		if out, err := helm(args...); err != nil || !strings.Contains(out, want) {
			t.Fatalf("helm %s: %v, want %q in\n%s", strings.Join(args, " "), err, want, out)
		}
	}
	image := func(want string) {
		t.Helper()
		if out := k.run("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}"); out != want {
			t.Errorf("the pods run %q, want %q", out, want)
		}
	}
	run("STATUS: deployed", "install", "shop", chart, "--wait", "--wait-for-jobs", "--timeout=60s")
	image("web:1 web:1")
	if out := k.run("get", "jobs", "-o", "custom-columns=NAME:.metadata.name,SUCCEEDED:.status.succeeded", "--no-headers"); len(strings.Fields(out)) != 4 {
		t.Errorf("jobs after the installation:\n%s", out) // the hook after it deletes its job
	}
	run("Phase:          Succeeded", "test", "shop", "--timeout=60s")
	run("STATUS: deployed", "upgrade", "shop", chart, "--set=tag=2", "--wait", "--timeout=60s")
	image("web:2 web:2")
	if out, err := helm("upgrade", "shop", chart, "--set=tag=3,exitCode=1", "--wait", "--timeout=60s"); err == nil || !strings.Contains(out, "pre-upgrade hooks failed") {
		t.Errorf("an upgrade with a failing hook: %v\n%s", err, out)
	}
	image("web:2 web:2")
	run("Rollback was a success", "rollback", "shop", "1", "--wait", "--timeout=60s")
	image("web:1 web:1")
	run(`release "shop" uninstalled`, "uninstall", "shop", "--wait", "--timeout=60s")
	if out := k.run("get", "deployments,statefulsets,services", "-l", "app=web", "-o", "name"); out != "" {
		t.Errorf("left after the removal: %s", out)
	}
}

// helmChart contains the files of a chart by path.
var helmChart = map[string]string{
	"Chart.yaml": `apiVersion: v2
name: shop
version: 1.0.0
`,
	"values.yaml": `tag: "1"
exitCode: "0"
`,
	"templates/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:{{ .Values.tag }}", ports: [{containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, labels: {app: web}}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: import-{{ .Values.tag }}}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: import, image: "import:1"}]}}
`,
	"templates/hooks.yaml": `apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {windtunnel.dev/exit-code: {{ .Values.exitCode | quote }}}}
    spec: {restartPolicy: Never, containers: [{name: migrate, image: "migrate:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: announce
  annotations: {helm.sh/hook: post-install, helm.sh/hook-delete-policy: hook-succeeded}
spec:
  template: {spec: {restartPolicy: OnFailure, containers: [{name: announce, image: "announce:1"}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: smoke, annotations: {helm.sh/hook: test}}
spec: {restartPolicy: Never, containers: [{name: smoke, image: "smoke:1"}]}
`,
}
