package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// churned runs churn on an API server and returns its exit code and output.
func churned(ctx context.Context, t *testing.T, api *kubeapi.Server, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	args = append([]string{"churn", "--kubeconfig", api.Kubeconfig(), "--services", "1", "--pods", "1", "--ingresses", "1", "--rate", "10", "--for", "200ms"}, args...)
	code = Main(ctx, args, &out, &complaints)
	return code, out.String(), complaints.String()
}

func churnServer(t *testing.T) *kubeapi.Server {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	return api
}

// The summary is printed even if something fails afterwards.
func TestChurnPrintsSummaryBeforeItFails(t *testing.T) {
	api := churnServer(t)
	if _, err := api.Inject(fault.Forbidden(), fault.Scope{Resources: []string{"namespaces"}, Verbs: []string{"delete"}}); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "churn.jsonl")
	code, stdout, stderr := churned(t.Context(), t, api, "--out", out)
	if code != exitBadInput || !strings.Contains(stderr, "kubectl delete namespace windtunnel-churn") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{": 2 changes in 0s, 0 of them refused", out + ": 2 changes"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in:\n%s", want, stdout)
		}
	}
}

// A run that is interrupted before it begins ends like one that is interrupted later.
func TestChurnInterruptedBeforeItBegins(t *testing.T) {
	api := churnServer(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	out := filepath.Join(t.TempDir(), "churn.jsonl")
	for _, args := range [][]string{{"--out", out}, {"--dry-run"}} {
		if code, stdout, stderr := churned(ctx, t, api, args...); code != exitInterrupted || stdout+stderr != "" {
			t.Errorf("%v: exit code %d, %s%s", args, code, stdout, stderr)
		}
	}
	if left, _ := filepath.Glob(out); left != nil {
		t.Errorf("objects remain: %v", left)
	}
}
