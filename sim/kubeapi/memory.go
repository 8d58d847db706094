package kubeapi

import (
	"sync"
)

// breathing is how much garbage a process may make, at least, before it is
// collected. Requests make a few kilobytes each, and a small cluster is a few megabytes:
// collecting whenever that much is garbage takes a fifth of the processor's time.
const breathing = 64 << 20

// ballast counts as living memory for the collector's pace, and is never
// touched, so that it takes none.
var ballast []byte //nolint:unused // it is there to be there

// Alone says that this process is for servers and nothing else: it then trades up to
// 64 MiB of memory for speed.
func Alone() { once.Do(func() { ballast = make([]byte, breathing) }) }

var once sync.Once
