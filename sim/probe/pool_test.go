package probe

import "testing"

// prepare opens nothing if there is a spare connection, and take uses the spare.
func TestPreparedConnections(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	pid := r.await(w, 0, 2)[0].PID
	pool := newPool(r.ctx, n.address, w)
	spares := func() int {
		pool.mu.Lock()
		defer pool.mu.Unlock()
		return len(pool.spares[pid])
	}
	for spares() == 0 && r.ctx.Err() == nil { // a round may reach the other worker only
		pool.prepare(pid)
		pool.preparing.Wait()
	}
	opened := pool.opened.Load()
	pool.prepare(pid)
	pool.preparing.Wait()
	conn, err := pool.take(r.ctx, pid)
	if err != nil {
		t.Fatal(err)
	}
	if said := askPID(t, conn); said != pid {
		t.Errorf("worker %d answers for worker %d", said, pid)
	}
	if now := pool.opened.Load(); now != opened {
		t.Errorf("%d connections were opened although there was a spare", now-opened)
	}
	r.end(w)
}
