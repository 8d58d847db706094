package cluster_test

import (
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver/cluster"
	"windtunnel.dev/sim/driver/drivertest"
	"windtunnel.dev/sim/kindcluster"
)

// TestDriver runs only in `make e2e`, like the end-to-end suite. It uses a kind cluster as the existing
// cluster.
func TestDriver(t *testing.T) {
	if os.Getenv("WINDTUNNEL_E2E") == "" {
		t.Skip("WINDTUNNEL_E2E is not set: `make e2e` creates a cluster for this test")
	}
	made, err := kindcluster.Create(t.Context(), 0, kindcluster.Settings{Image: os.Getenv("KIND_IMAGE")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Delete(); err != nil {
			t.Error(err)
		}
	})
	for _, image := range []string{engine.Image, cluster.HarnessImage} {
		if err := made.Load(t.Context(), image); err != nil {
			t.Fatal(err)
		}
	}
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(made.Kubeconfig()))
	if err != nil {
		t.Fatal(err)
	}
	d, err := cluster.Open(t.Context(), cluster.Options{API: config})
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, d)
}
