//go:build !race

// The race detector writes to all memory that is allocated, so this test is not for it.

package run

import (
	"os"
	"testing"

	"github.com/prometheus/procfs"
)

func TestBallastTakesNoMemory(t *testing.T) {
	before := resident(t)
	ballast()
	if grown := resident(t) - before; grown > headroom/4 {
		t.Errorf("the process has %d bytes more than before, want less than a quarter of %d", grown, headroom)
	}
}

// resident returns how much memory this process has, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	self, err := procfs.NewProc(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	stat, err := self.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return stat.ResidentMemory()
}
