package clusters_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/controller/explain"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/sim/corpus/clusters"
)

// The size and the seed determine every byte.
func TestSameSeedSameBytes(t *testing.T) {
	if !bytes.Equal(manifests(t, clusters.Generate(100, 7)), manifests(t, clusters.Generate(100, 7))) {
		t.Error("two clusters of one seed differ")
	}
	if bytes.Equal(manifests(t, clusters.Generate(100, 7)), manifests(t, clusters.Generate(100, 8))) {
		t.Error("different seeds give the same cluster")
	}
}

// pinned is the SHA-256 of a cluster. An intended change of the generator changes it, and the clusters
// of every seed.
const pinned = "a51cb18ed9b31710ac003739cb5925cde2b7c74cd0987d7c0fa64db8293c1815"

func TestSameBytesOnEveryMachine(t *testing.T) {
	sum := sha256.Sum256(manifests(t, clusters.Generate(100, 1)))
	if got := hex.EncodeToString(sum[:]); got != pinned {
		t.Errorf("the cluster of 100 ingresses and seed 1 has the hash %s, want %s", got, pinned)
	}
}

func manifests(t *testing.T, c clusters.Cluster) []byte {
	t.Helper()
	text, err := c.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The controller reports exactly the findings of the cluster.
func TestFindings(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("100 ingresses, seed %d", seed), func(t *testing.T) { checkFindings(t, 100, seed) })
	}
	t.Run("10 ingresses", func(t *testing.T) { checkFindings(t, 10, 5) })
	if !testing.Short() {
		t.Run("300 ingresses", func(t *testing.T) { checkFindings(t, 300, 1) })
	}
}

func checkFindings(t *testing.T, size int, seed uint64) {
	c := clusters.Generate(size, seed)
	source, err := snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: manifests(t, c)})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(source.Ingresses()); got != size {
		t.Errorf("%d ingresses, want %d", got, size)
	}
	compareFindings(t, c.Findings, found(t, source, c.Flags))
}

func compareFindings(t *testing.T, want []clusters.Finding, got []explain.FindingOutput) {
	t.Helper()
	expected := map[string]string{}
	for _, f := range want {
		expected[f.Object+" "+f.Key] = f.Why
	}
	for _, f := range got {
		at := f.Object + " " + f.Key
		if _, known := expected[at]; !known {
			t.Errorf("an unexpected finding: %s: %s", at, f.Reason)
		}
		delete(expected, at)
	}
	for at, why := range expected {
		t.Errorf("no finding at %s: %s", at, why)
	}
}

// found returns the findings of the controller that runs with the flags.
func found(t *testing.T, source *snapshot.Manifests, flags []string) []explain.FindingOutput {
	t.Helper()
	o := explain.Options{IngressClass: "nginx", Flags: options.Options{
		Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true, Stream: options.LuaStream,
	}}
	objects := map[string]*types.NamespacedName{
		"--configmap": &o.ConfigMap, "--tcp-services-configmap": &o.Flags.TCPServices,
		"--udp-services-configmap": &o.Flags.UDPServices, "--default-backend-service": &o.Flags.DefaultBackendService,
	}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		namespace, object, err := cache.SplitMetaNamespaceKey(value)
		if err != nil || objects[name] == nil {
			t.Fatalf("the flag %s: %v", flag, err)
		}
		*objects[name] = types.NamespacedName{Namespace: namespace, Name: object}
	}
	empty, err := snapshot.FromYAML()
	if err != nil {
		t.Fatal(err)
	}
	explanation, err := explain.Of(empty, source, o)
	if err != nil {
		t.Fatal(err)
	}
	return explanation.Findings
}

// A cluster of 600 ingresses has every mistake, and every kind of object.
func TestLargeClustersHaveEverything(t *testing.T) {
	c := clusters.Generate(600, 1)
	var why []string
	for _, f := range c.Findings {
		why = append(why, f.Why)
	}
	slices.Sort(why)
	if got, want := len(slices.Compact(why)), len(clusters.Mistakes()); got != want {
		t.Errorf("%d kinds of mistakes, want %d", got, want)
	}
	text := string(manifests(t, c))
	for _, kind := range []string{"Ingress", "IngressClass", "Service", "EndpointSlice", "Secret", "ConfigMap"} {
		if !strings.Contains(text, "\nkind: "+kind+"\n") {
			t.Errorf("no %s", kind)
		}
	}
}

// docs/corpus.md has a row for each feature, mistake and ConfigMap.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/corpus.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(page), "\n")
	for _, row := range clusters.Rows() {
		if !slices.Contains(lines, row) {
			t.Errorf("docs/corpus.md lacks the line %q", row)
		}
	}
}
