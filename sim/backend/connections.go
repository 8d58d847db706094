package backend

import (
	"context"
	"sync"
)

// connections are those of a pod that net/http does not manage, because they do not speak HTTP, or no
// longer do: TCP and websockets. They end with the pod.
type connections struct {
	ended  context.Context
	end    context.CancelFunc
	active sync.WaitGroup

	mu   sync.Mutex
	over bool
}

func newConnections() *connections {
	ended, end := context.WithCancel(context.Background())
	return &connections{ended: ended, end: end}
}

// begin counts one more connection, until the caller calls active.Done. It returns false if the pod
// is gone.
func (c *connections) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.active.Add(1)
	}
	return !c.over
}

// onEnd calls f when the connections are cut, unless stop is called before.
func (c *connections) onEnd(f func()) (stop func() bool) { return context.AfterFunc(c.ended, f) }

// cut ends all connections and returns when they are closed.
func (c *connections) cut() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.end()
	c.active.Wait()
}
