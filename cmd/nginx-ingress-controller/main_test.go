package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/kubeapi"
)

// beTheCommand is the environment variable that makes the test binary run the command.
const beTheCommand = "TEST_BE_NGINX_INGRESS_CONTROLLER"

func TestMain(m *testing.M) {
	if os.Getenv(beTheCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// environment returns the environment of a pod, with additional variables of the form KEY=value.
func environment(more ...string) func(string) string {
	values := map[string]string{"POD_NAMESPACE": "ingress-nginx", "POD_NAME": "controller"}
	for _, pair := range more {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	return func(key string) string { return values[key] }
}

// write creates a file in a temporary directory and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// openDir returns a temporary directory that nginx's workers can enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ports returns flags that set every port to a free one.
func ports(t *testing.T) []string {
	t.Helper()
	flags := []string{"http-port", "https-port", "default-server-port", "status-port", "healthz-port", "stream-port", "profiler-port"}
	base, err := port.Free(len(flags))
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for i, flag := range flags {
		args = append(args, fmt.Sprintf("--%s=%d", flag, base+i))
	}
	return append(args, "--healthz-host=127.0.0.1")
}

func TestMisuseIsOneLine(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if _, err := findNginx(""); err != nil {
		t.Skip(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	busyPort := strconv.Itoa(busy.Addr().(*net.TCPAddr).Port)
	kubeconfig := "--kubeconfig=" + write(t, "kubeconfig", `{apiVersion: v1, kind: Config, current-context: a,
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: a, context: {cluster: a}}]}`)
	closed := filepath.Join(openDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]struct {
		args []string
		env  func(string) string
		want string
	}{
		"unknown flag":         {args: []string{"--no-such-flag"}, want: "unknown flag: --no-such-flag"},
		"bad number":           {args: []string{"--http-port=x"}, want: "--http-port"},
		"bad name":             {args: []string{"--configmap=controller"}, want: `"controller" is not of the form namespace/name`},
		"bad dynamic rate":     {args: []string{"--dynamic-sync-rate-limit=0.1"}, want: "--dynamic-sync-rate-limit 0.1: must not be less than --sync-rate-limit 0.3"},
		"bad rate":             {args: []string{"--sync-rate-limit=0"}, want: "--sync-rate-limit 0: must be greater than 0"},
		"bad log format":       {args: []string{"--log-format=xml"}, want: `--log-format "xml": must be text or json`},
		"bad health path":      {args: []string{"--health-check-path=/metrics"}, want: "--health-check-path"},
		"two namespaces":       {args: []string{"--watch-namespace=a", "--watch-namespace-selector=a=b"}, want: "exclude each other"},
		"bad selector":         {args: []string{"--watch-namespace-selector=a=b=c"}, want: "--watch-namespace-selector"},
		"CA of a kubeconfig":   {args: []string{kubeconfig, "--certificate-authority=/x"}, want: "--certificate-authority needs --apiserver-host"},
		"no pod":               {env: environment("POD_NAME="), want: "$POD_NAMESPACE and $POD_NAME must both be set"},
		"no API server":        {args: ports(t), want: "set --kubeconfig or --apiserver-host"},
		"no kubeconfig":        {args: append(ports(t), "--kubeconfig=/no/such"), want: "--kubeconfig: stat /no/such: no such file"},
		"bad kubeconfig":       {args: append(ports(t), "--kubeconfig="+write(t, "bad", "{")), want: "--kubeconfig"},
		"port in use":          {args: append(ports(t), kubeconfig, "--http-port="+busyPort), want: "--http-port " + busyPort + ": the port is in use"},
		"health port in use":   {args: append(ports(t), kubeconfig, "--healthz-port="+busyPort), want: "--healthz-port " + busyPort + ": the port is in use"},
		"same port twice":      {args: append(ports(t), kubeconfig, "--status-port=4711", "--https-port=4711"), want: "--status-port 4711: --https-port uses the same port"},
		"template is absent":   {args: []string{"--nginx-template=/no/such"}, want: "--nginx-template: stat /no/such"},
		"template is invalid":  {args: []string{"--nginx-template=" + write(t, "my.tmpl", "events {}\n{{ if }}\n")}, want: "my.tmpl:2:"},
		"Lua is absent":        {args: []string{"--lua-dir=/no/such"}, want: "--lua-dir /no/such: not the Lua code"},
		"workers cannot enter": {args: []string{"--nginx-root=" + closed}, want: "chmod o+x " + closed},
	} {
		t.Run(name, func(t *testing.T) {
			if test.env == nil {
				test.env = environment()
			}
			if name == "workers cannot enter" && os.Geteuid() != 0 {
				t.Skip("needs root: only then the workers run as another user")
			}
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			var stderr bytes.Buffer
			if code := run(test.args, test.env, &stderr, &stderr); code != exitMisuse {
				t.Errorf("exit code %d, want %d", code, exitMisuse)
			}
			if got := stderr.String(); !strings.Contains(got, test.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("output %q, want one line with %q", got, test.want)
			}
		})
	}
}

func TestNginxMissing(t *testing.T) {
	t.Setenv(nginx.BinaryVariable, "/no/such/nginx")
	var stderr bytes.Buffer
	if code := run(nil, environment(), &stderr, &stderr); code != exitMisuse || !strings.Contains(stderr.String(), "/no/such/nginx") {
		t.Errorf("exit code %d, output %q", code, stderr.String())
	}
}

func TestHelpAndVersion(t *testing.T) {
	for flag, want := range map[string]string{"--help": "--dynamic-configuration ", "--version": "windtunnel.dev"} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{flag}, environment(), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), want) || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", flag, code, stdout.String(), stderr.String())
		}
	}
}

func TestFlagsWithoutEffectAreLogged(t *testing.T) {
	f, err := parseFlags([]string{"--health-check-path=/healthz", "--health-check-timeout=5", "--maxmind-mirror=x", "--log_dir=/var/log", "--logtostderr", "-v=0"})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	warnIgnored(f.set, f.logger(&said))
	got := said.String()
	for _, want := range []string{"--health-check-timeout has no effect", "--maxmind-mirror has no effect", "--log_dir has no effect"} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "path") || strings.Count(got, "\n") != 3 {
		t.Errorf("want one line for each of three flags, got:\n%s", got)
	}
}

// TestLife starts the command as a process, with the flags that the harness sets, and stops it as a
// kubelet does.
func TestLife(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if _, err := findNginx(""); err != nil {
		t.Skip(err)
	}
	root := openDir(t)
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: filepath.Join(root, "kubeapi"), AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close(context.Background())
	describeCluster(t, api)

	args := append(ports(t), "--kubeconfig="+api.Kubeconfig(), "--configmap=ingress-nginx/controller",
		"--nginx-root="+root, "--log-format=json", "--post-shutdown-grace-period=0", "--publish-status-address=127.0.0.1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a failing test waits that long
	defer cancel()
	command := exec.CommandContext(ctx, os.Args[0], args...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Env = append(os.Environ(), beTheCommand+"=1", "POD_NAMESPACE=ingress-nginx", "POD_NAME=controller")
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(output)
	var said []string
	await := func(msg string) {
		t.Helper()
		for lines.Scan() {
			said = append(said, lines.Text())
			var record struct{ Msg string }
			if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
				t.Errorf("not a JSON record: %s", lines.Text())
			}
			if record.Msg == msg {
				return
			}
		}
		t.Fatalf("it ended without logging %q; its log:\n%s", msg, strings.Join(said, "\n"))
	}
	await("ready")
	health := "http://127.0.0.1:" + strings.TrimPrefix(args[4], "--healthz-port=") + "/healthz"
	if response, err := http.Get(health); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("health check: %v, %v", response, err)
	}
	wantDebug(t, root, strings.TrimPrefix(args[3], "--status-port="))
	pid := masterPID(t, root)
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await("quitting nginx")
	for lines.Scan() {
		said = append(said, lines.Text())
	}
	if err := command.Wait(); err != nil {
		t.Errorf("it ended with %v; its log:\n%s", err, strings.Join(said, "\n"))
	}
	// nginx's master is the leader of a process group that contains its workers.
	if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("processes of nginx remain in group %d", pid)
	}
}

// wantDebug runs the commands of dbg that query nginx.
func wantDebug(t *testing.T, root, statusPort string) {
	t.Helper()
	dbg := built.Command(t, "dbg")
	for args, want := range map[string]string{
		"backends list":                         "upstream-default-backend\n",
		"backends all":                          "[\n  {\n    \"name\": \"upstream-default-backend\"",
		"backends get upstream-default-backend": "{\n  \"name\": \"upstream-default-backend\"",
		"certs get _":                           "-----BEGIN CERTIFICATE-----",
		"certs get unknown.example":             "No cert found for host unknown.example\n",
		"conf":                                  "server_name _;",
	} {
		out, err := exec.Command(dbg, append(strings.Fields(args), "--status-port="+statusPort, "--nginx-root="+root)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("dbg %s: %v, %.300s, want %q", args, err, out, want)
		}
	}
}

func describeCluster(t *testing.T, api *kubeapi.Server) {
	t.Helper()
	client, err := kubernetes.NewForConfig(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, create := t.Context(), metav1.CreateOptions{}
	meta := metav1.ObjectMeta{Namespace: "ingress-nginx", Name: "controller"}
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ingress-nginx"}}, create)
	if err == nil {
		_, err = client.CoreV1().ConfigMaps(meta.Namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"bind-address": "127.0.0.1", "worker-processes": "2"}}, create)
	}
	if err == nil {
		_, err = client.CoreV1().Pods(meta.Namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "controller", Image: "controller"}}}}, create)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func masterPID(t *testing.T, root string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "tmp/nginx/nginx.pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}
