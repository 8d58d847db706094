package compile_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/sim/corpus/clusters"
)

// nginx accepts the configuration of generated clusters, including their broken objects. The seeds
// cover all variants of the ConfigMap.
func TestNginxAcceptsGeneratedClusters(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			text, err := clusters.Generate(40, seed).Manifests()
			if err != nil {
				t.Fatal(err)
			}
			source, err := snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: text})
			if err != nil {
				t.Fatal(err)
			}
			config := snapshot.Take(source).ConfigMaps[types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"}]
			if config == nil {
				t.Fatal("the cluster has no ConfigMap of the controller")
			}
			testConf(t, source, parse(flags{}, config.Data).Options)
		})
	}
}
