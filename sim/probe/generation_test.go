package probe

import (
	"net"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/event"
)

// A draining generation is logged with the reason why it lives: a client that waits for an answer,
// and a pod that does not answer.
func TestDrainingGenerationIsExplained(t *testing.T) {
	pod := startSlowPod(t)
	server := "location / { proxy_pass http://" + pod.address + "; }"
	n := startNginx(t, server)
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	_, base := r.started(w)
	u := WatchUsage(r.ctx, r.Log, w, nil)

	asked := make(chan struct{})
	go func() {
		defer close(asked)
		pod.ask(n.address)
	}()
	<-pod.asked
	n.reload(server)
	alive, err := w.Await(r.ctx, func(alive []Worker) bool {
		return len(alive) == 3 && alive[0].State == event.Draining && alive[1].Generation == base+1
	})
	if err != nil {
		t.Fatalf("%v: %+v", err, alive)
	}
	u.Sample()
	pod.release()
	<-asked
	r.await(w, base+1, 2)
	u.Sample()
	events := r.end(w, u)

	var held *event.Generation
	var last []event.Generation
	for _, e := range events {
		if e.Trouble != nil {
			t.Errorf("trouble: %+v", e.Trouble)
		}
		if e.Usage == nil {
			continue
		}
		if e.Usage.NginxPSS > 0 { // a thorough sample; other samples may follow it
			last = e.Usage.ByGeneration
		}
		for _, g := range e.Usage.ByGeneration {
			// The first such sample: during the last, the worker may end.
			if held == nil && g.Generation == base && g.Draining == 1 && g.Workers == 1 && g.Held != nil {
				held = &g
			}
			if g.RSS < 1<<20 || g.PSS > g.RSS || g.Generation == base+1 && g.Held != nil {
				t.Errorf("sample %+v", g)
			}
		}
	}
	if held == nil {
		t.Fatal("the draining generation was never sampled")
	}
	if *held.Held != (event.Connections{Clients: 1, Pods: 1}) {
		t.Errorf("the draining generation was %+v, held by %+v, want a client and a pod", held, held.Held)
	}
	if len(last) != 1 || last[0].Generation != base+1 || last[0].Workers != 2 || last[0].PSS == 0 {
		t.Errorf("at the end: %+v, want the new generation", last)
	}
}

// The log distinguishes a worker that ends by itself from one that is killed, as far as this kernel
// allows.
func TestExitStatusOfWorkers(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	first, base := r.started(w)
	if err := syscall.Kill(first[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second, err := w.Await(r.ctx, func(alive []Worker) bool {
		return len(alive) == 2 && alive[0].PID != first[0].PID && alive[1].PID != first[0].PID
	})
	if err != nil {
		t.Fatal(err)
	}
	r.old(second)
	n.reload("return 200;")
	r.await(w, base+1, 2)

	tells := toldOfOthers(t)
	for _, e := range r.end(w) {
		if e.Worker == nil || e.Worker.State != event.Exited {
			continue
		}
		switch got := e.Worker.Exit; {
		case got == nil && tells:
			t.Errorf("worker %+v ended without an exit status", *e.Worker)
		case got == nil:
		case e.Worker.PID == first[0].PID && *got != event.Exit{Signal: "SIGKILL"}:
			t.Errorf("the killed worker ended with %+v", *got)
		case e.Worker.PID != first[0].PID && *got != event.Exit{}:
			t.Errorf("a drained worker ended with %+v", *got)
		}
	}
}

// toldOfOthers reports whether this kernel keeps the exit status of a reaped process.
func toldOfOthers(t *testing.T) bool {
	t.Helper()
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	all := exits{}
	all.follow(child.Process.Pid)
	stdin.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	exit := all.take(child.Process.Pid)
	if exit != nil && *exit != (event.Exit{}) {
		t.Errorf("cat ended with %+v", *exit)
	}
	if len(all) > 0 {
		t.Error("the ended process is still tracked")
	}
	return exit != nil
}

// On any kernel, the exit status of a process that nobody has reaped is known.
func TestExitStatusOfAZombie(t *testing.T) {
	child := exec.Command("sh", "-c", "exit 3")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	// Wait for its end without reaping it.
	if err := unix.Waitid(unix.P_PID, child.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if exit := (exits{}).take(child.Process.Pid); exit == nil || *exit != (event.Exit{Code: 3}) {
		t.Errorf("it ended by %+v, want code 3", exit)
	}
}

// Both ways of listing the sockets of this machine find ours, and which ones listen.
func TestSockets(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, find := range map[string]func() ([]socket, error){"any": network(0).sockets, "/proc": network(0).procSockets} {
		all, err := find()
		if err != nil {
			t.Fatal(err)
		}
		if !hasPort(all, listener.Addr(), true) || !hasPort(all, conn.LocalAddr(), false) {
			t.Errorf("%s: neither the listener %v nor its client %v are among %d sockets", name, listener.Addr(), conn.LocalAddr(), len(all))
		}
	}
}

// A connection that nobody has accepted yet belongs to no process. Its inode is 0, like that of
// files that are not sockets.
func TestUnacceptedConnectionsHaveNoOwner(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer stdin.Close()
	held, err := heldBy([]int{child.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	if held[child.Process.Pid] != (event.Connections{}) {
		t.Errorf("cat holds %+v", held[child.Process.Pid])
	}
}

func hasPort(all []socket, address net.Addr, listens bool) bool {
	port := uint16(address.(*net.TCPAddr).Port)
	for _, s := range all {
		if s.port == port && s.listens == listens && s.inode != 0 {
			return true
		}
	}
	return false
}

func BenchmarkSockets(b *testing.B) {
	for b.Loop() {
		if _, err := network(0).sockets(); err != nil {
			b.Fatal(err)
		}
	}
}
