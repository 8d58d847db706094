package fetch_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/corpus/dump"
	"windtunnel.dev/sim/corpus/fetch"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/manifest"
)

// A live cluster gives the same import as a dump of its objects.
func TestLiveClusterIsImported(t *testing.T) {
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	client, err := cluster.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	text, err := clusters.Generate(10, 1).Manifests()
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := manifest.Parse("cluster.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	namespaces := map[string]bool{}
	for _, m := range manifests {
		if namespace := m.Object.GetNamespace(); namespace != "" && !namespaces[namespace] {
			namespaces[namespace] = true
			objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace},
			}})
		}
		objects = append(objects, m.Object)
	}
	if err := client.CreateAll(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	found, err := fetch.All(t.Context(), server.Config())
	if err != nil {
		t.Fatal(err)
	}
	result, err := dump.Of(found, dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Summary.Took["Ingress"]; got != 10 {
		t.Errorf("%d ingresses, want 10", got)
	}
	if got := result.Summary.Took["Service"]; got < 10 {
		t.Errorf("%d services, want one per ingress", got)
	}
}

func TestErrorsSayWhatWasListed(t *testing.T) {
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config()
	server.Close(context.Background())
	if _, err := fetch.All(t.Context(), config); err == nil || !strings.Contains(err.Error(), "listing ingressclasses: ") {
		t.Errorf("a cluster that is gone: %v", err)
	}
}
