//go:build !race

// The race detector writes to all memory that is allocated, so this test is not for it.

package run

import (
	"bytes"
	"os"
	"testing"

	"github.com/prometheus/procfs"

	"windtunnel.dev/internal/command"
)

// The test runs in a process of its own. Otherwise, the ballast could get memory that other tests have
// used, and these tests could allocate more memory at the same time.
func TestBallastTakesNoMemory(t *testing.T) {
	const alone = "WINDTUNNEL_TEST_ALONE"
	if os.Getenv(alone) == "" {
		child := command.New(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), alone+"=1")
		output, err := child.CombinedOutput()
		if err != nil || !bytes.Contains(output, []byte("--- PASS: "+t.Name())) {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	before := resident(t)
	size := len(ballast())
	if grown := resident(t) - before; grown > size/4 {
		t.Errorf("the process has %d bytes more than before, want less than a quarter of %d", grown, size)
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
