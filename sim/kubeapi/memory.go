package kubeapi

import (
	"sync"
)

// breathing is how much garbage in bytes the process may make before a collection, at least. A
// request makes a few kilobytes and a small cluster has a few megabytes; collecting whenever that
// much is garbage would take a fifth of the processor time.
const breathing = 64 << 20

// ballast counts as live memory when the collector sets its pace. It is never touched, so it takes
// no memory.
var ballast []byte //nolint:unused // it is there to be there

// Alone tells the package that this process only runs servers: it then trades up to 64 MiB of
// memory for speed.
func Alone() { once.Do(func() { ballast = make([]byte, breathing) }) }

var once sync.Once
