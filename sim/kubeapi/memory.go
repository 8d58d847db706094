package kubeapi

import (
	"sync"
)

// minGarbage is the minimum amount of garbage in bytes between two collections. A request makes a
// few kilobytes and a small cluster has a few megabytes. With Go's default, a collection for every
// few megabytes of garbage would take a fifth of the processor time.
const minGarbage = 64 << 20

// ballast counts as live memory when the garbage collector sets its pace. It is never touched, so
// it uses no physical memory.
var ballast []byte //nolint:unused // only its size matters

// DedicateProcess declares that this process only runs servers: it then trades up to 64 MiB of
// memory for speed.
func DedicateProcess() { once.Do(func() { ballast = make([]byte, minGarbage) }) }

var once sync.Once
