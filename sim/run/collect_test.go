package run

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/prometheus/procfs"
)

var garbage []byte

func TestCollectRarely(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))

	before := resident(t)
	collectRarely()
	if grown := resident(t) - before; grown > headroom/4 {
		t.Errorf("the process has %d bytes more than before, want less than a quarter of %d", grown, headroom)
	}
	collections := numGC()
	for range 64 {
		garbage = make([]byte, 1<<20)
	}
	if now := numGC(); now != collections {
		t.Errorf("garbage was collected %d times while 64 MiB were allocated, want 0", now-collections)
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

// numGC returns how often the garbage of this process was collected.
func numGC() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}
