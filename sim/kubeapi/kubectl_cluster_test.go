package kubeapi

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/kubeapi/controllers"
)

// startCluster runs a server with all controllers.
func startCluster(t *testing.T) *Server {
	t.Helper()
	s, err := Start(Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), Kubelet: true, NamespaceController: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	running, err := controllers.Start(t.Context(), s.Config(), controllers.Options{StopAfter: time.Millisecond, RootCA: s.TLSConfig().CAData})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	return s
}

// chosen matches the values that differ from run to run: names, addresses, hashes.
var chosen = regexp.MustCompile(`web-[a-z0-9]{6,10}\b|10\.244\.\d+\.\d+|10\.96\.\d+\.\d+`)

// A user manages an application with kubectl, from apply to delete.
func TestKubectlOnACluster(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, startCluster(t))
	file := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte(webManifest), 0o644); err != nil {
		t.Fatal(err)
	}
	out := k.transcript(
		"apply -f "+file,
		"rollout status deployment/web --timeout=60s",
		"wait --for=condition=Ready pod -l app=web --timeout=60s -o name",
		"apply -f "+file,
		"set image deployment/web web=web:2",
		"rollout status deployment/web --timeout=60s",
		"rollout restart deployment/web",
		"rollout status deployment/web --timeout=60s",
		"rollout history deployment/web",
		"rollout undo deployment/web --to-revision=1",
		"rollout status deployment/web --timeout=60s",
		"get deployment web -o jsonpath={.spec.template.spec.containers[0].image}",
		"rollout pause deployment/web",
		"rollout resume deployment/web",
		"label deployment web tier=front",
		"annotate service web note=seen",
		`patch deployment web -p {"spec":{"minReadySeconds":0,"revisionHistoryLimit":3}}`,
		"auth can-i create ingresses",
		"auth can-i delete pods -n kube-system",
		"auth whoami",
	)
	out = regexp.MustCompile(`(?m)^(Waiting for deployment|pod/web).*\n`).ReplaceAll(out, nil) // their number varies
	out = bytes.ReplaceAll(out, []byte(file), []byte("web.yaml"))
	golden.Check(t, "testdata/cluster.txtar", chosen.ReplaceAll(out, []byte("~")))

	for command, want := range map[string][]string{
		"explain ingress.spec.rules":       {"KIND:       Ingress", "FIELD: rules <[]IngressRule>", "host\t<string>", "DESCRIPTION:"},
		"explain service.spec.ports.port":  {"FIELD: port <integer>"},
		"explain deployment.spec.strategy": {"rollingUpdate\t<RollingUpdateDeployment>"},
		"describe deployment web":          {"3 desired | 3 updated | 3 total | 3 available | 0 unavailable", "NewReplicaSetAvailable", "ScalingReplicaSet"},
		"describe service web":             {"app=web", "8080", "10.244."},
		"describe pods":                    {"Running", "Controlled By:", "ReplicaSet/web-"},
		"describe node":                    {"Ready", "Non-terminated Pods:", "web-"},
		"events":                           {"ScalingReplicaSet", "Deployment/web", "SuccessfulCreate"},
		"get events --field-selector involvedObject.kind=Deployment": {"deployment/web", "Scaled up replica set"},
	} {
		printed := k.run(strings.Fields(command)...)
		for _, text := range want {
			if !strings.Contains(printed, text) {
				t.Errorf("the output of kubectl %s lacks %q:\n%s", command, text, printed)
			}
		}
	}
}

func TestKubectlScaleEditReplaceDelete(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, startCluster(t))
	k.run("create", "deployment", "web", "--image=web:1", "--replicas=2", "--port=8080")
	k.run("expose", "deployment", "web", "--port=80")
	k.run("rollout", "status", "deployment/web", "--timeout=60s")

	edit := k.command(t.Context(), "edit", "deployment", "web")
	edit.Env = append(edit.Env, "KUBE_EDITOR=sed -i s/web:1/web:9/")
	if out, err := edit.CombinedOutput(); err != nil {
		t.Fatalf("kubectl edit: %v\n%s", err, out)
	}
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	if out := k.run("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}"); out != "web:9 web:9" {
		t.Errorf("after the edit: %q", out)
	}
	file := filepath.Join(t.TempDir(), "web.yaml")
	text := strings.ReplaceAll(k.run("get", "deployment", "web", "-o", "yaml"), "replicas: 2", "replicas: 3")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	k.run("replace", "-f", file)
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	k.fails("the object has been modified", "replace", "-f", file)

	k.run("scale", "deployment/web", "--replicas=0")
	k.run("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=60s")
	k.run("delete", "deployment", "web", "--cascade=background")
	k.run("wait", "--for=delete", "rs", "-l", "app=web", "--timeout=60s")
	k.run("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=60s")
	k.run("create", "namespace", "team")
	k.run("create", "deployment", "web", "-n", "team", "--image=web:1")
	k.run("delete", "namespace", "team", "--timeout=60s")
	k.fails(`namespaces "team" not found`, "get", "namespace", "team")
}

const webManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1", ports: [{name: http, containerPort: 8080}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
`
