package kind

import (
	"testing"

	"windtunnel.dev/sim/fault"
)

// A fault that is renamed must be renamed in what the driver lacks.
func TestLacksOnlyFaultsThatThereAre(t *testing.T) {
	for name := range lacks {
		if _, known := fault.Find(name); !known {
			t.Errorf("there is no fault %q", name)
		}
	}
}
