package kindcluster

import (
	"os"
	"testing"
)

func TestMakerOfACluster(t *testing.T) {
	for name, want := range map[string]int{
		"windtunnel-4711-0":    4711,
		"windtunnel-mine-0":    0,
		"windtunnel-e2e-0":     0,
		"windtunnel--1-0":      0,
		"kind":                 0,
		"my-windtunnel-4711-0": 0,
	} {
		if pid, ours := maker(name); ours != (want != 0) || ours && pid != want {
			t.Errorf("maker(%s) = %d, %t, want %d", name, pid, ours, want)
		}
	}
	if pid, ours := maker(name(3, "")); !ours || pid != os.Getpid() {
		t.Errorf("maker of our own cluster = %d, %t", pid, ours)
	}
}
