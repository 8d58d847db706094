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

// TestDriver takes minutes, and what a machine has only if it was asked for.
func TestDriver(t *testing.T) {
	image, ok := os.LookupEnv("KIND_IMAGE")
	if !ok {
		t.Skip("KIND_IMAGE is not set: the image of a kind node, or empty for kind's own")
	}
	drivertest.Run(t, kind.Driver{Cluster: kindcluster.Settings{Image: image}})
}

func TestAFileIsNoImage(t *testing.T) {
	_, err := kind.Driver{}.Prepare(t.Context(), subject.Subject{Name: "a", Controller: "kind_test.go"}, driver.Room{})
	if err == nil || !strings.Contains(err.Error(), "kind_test.go is a file, and the driver kind takes images") {
		t.Errorf("got %v", err)
	}
}
