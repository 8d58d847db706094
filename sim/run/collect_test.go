package run

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var garbage []byte

func TestCollectRarely(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))

	collectRarely()
	collections := numGC()
	for range 64 {
		garbage = make([]byte, 1<<20)
	}
	if now := numGC(); now != collections {
		t.Errorf("garbage was collected %d times while 64 MiB were allocated, want 0", now-collections)
	}
}

// numGC returns how often the garbage of this process was collected.
func numGC() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}
