package kind_test

import (
	"os"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/drivertest"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/subject"
)

// TestDriver runs only in `make e2e`, like the end-to-end suite.
func TestDriver(t *testing.T) {
	if os.Getenv("WINDTUNNEL_E2E") == "" {
		t.Skip("WINDTUNNEL_E2E is not set: `make e2e` creates clusters for this test")
	}
	drivertest.Run(t, kind.Driver{Cluster: kindcluster.Settings{Image: os.Getenv("KIND_IMAGE")}})
}

func TestABinaryIsRefused(t *testing.T) {
	_, err := kind.Driver{}.Prepare(t.Context(), subject.Subject{Name: "a", Controller: "kind_test.go"}, driver.Options{})
	if err == nil || !strings.Contains(err.Error(), "its controller is a binary") {
		t.Errorf("got %v", err)
	}
}
