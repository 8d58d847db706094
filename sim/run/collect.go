package run

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// The bounds of headroom, in bytes. A round of 30 seconds with 1,000 requests/s and 20 changes/s
// allocates 350 to 450 MiB.
const (
	leastHeadroom = 384 << 20
	mostHeadroom  = 1 << 30
)

// headroom returns how much this process may allocate between two collections of its garbage, in bytes,
// besides the size of its live heap: an eighth of the available memory, within bounds. The memory of a
// container counts if it has a limit (memory.max of cgroup v2).
func headroom() int {
	available := uint64(0) // unknown
	if proc, err := procfs.NewDefaultFS(); err == nil {
		if memory, err := proc.Meminfo(); err == nil && memory.MemAvailableBytes != nil {
			available = *memory.MemAvailableBytes
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil { // otherwise it is max
			available = min(available, limit)
		}
	}
	return int(min(max(available/8, leastHeadroom), mostHeadroom))
}

// ballast enlarges the live heap, whose size determines when the next collection is due. Nothing
// uses its content. Its memory is returned to the system, because the runtime zeroes, and thus occupies,
// memory of the heap that was used before.
var ballast = sync.OnceValue(func() []byte {
	all := make([]byte, headroom())
	_ = unix.Madvise(all, unix.MADV_DONTNEED) // if this fails, the ballast only takes memory
	return all
})

// collectRarely collects the garbage of this process, and makes later collections rare. A
// collection takes idle processors away from nginx for some tenths of a second, and delays requests
// and changes. If $GOGC is set, collectRarely does nothing.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		ballast()
		runtime.GC()
	}
}
