// Package probe observes a subject from outside: the processes of nginx or another proxy through
// /proc, and what each worker serves through connections to a known worker or, where processes cannot
// be seen, through a Canary. It stands between a running subject and the event log. Its one rule: it
// trusts only its own observations, never a controller's log or counter, and it logs what it
// observed, not what that means. WatchMemory is the exception: only the controller knows its heap and
// the dictionaries of nginx's Lua.
package probe

import (
	"sync"

	"windtunnel.dev/sim/event"
)

// trouble logs, once, that a probe cannot observe something.
type trouble struct {
	log     *event.Log
	subject string
	once    sync.Once
}

func (t *trouble) report(what string, err error) {
	t.once.Do(func() { t.log.Trouble(t.subject, what, err.Error()) })
}
