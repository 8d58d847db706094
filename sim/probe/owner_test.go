package probe

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
)

func TestOwnerIsTheWorkerThatAnswers(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	var pids []int
	for _, worker := range r.await(w, 0, 2) {
		pids = append(pids, worker.PID)
	}
	pool := newPool(r.ctx, n.address, w)
	for _, pid := range pids {
		conn, err := pool.take(r.ctx, pid)
		if err != nil {
			t.Fatal(err)
		}
		if said := askPID(t, conn); said != pid {
			t.Errorf("worker %d owns the connection, but worker %d answered", pid, said)
		}
		if owner, err := Owner(conn, pids); owner != pid || err != nil {
			t.Errorf("Owner: %d, %v, want %d", owner, err, pid)
		}
		local, _ := addrPort(conn.RemoteAddr())
		remote, _ := addrPort(conn.LocalAddr())
		diag, err := network(0).diagInode(local, remote)
		if err != nil {
			t.Logf("sock_diag is not available: %v", err)
			continue
		}
		if proc, err := network(0).procInode(local, remote); proc != diag || err != nil {
			t.Errorf("/proc/net/tcp reports inode %d, %v, sock_diag reports %d", proc, err, diag)
		}
	}
	r.end(w)
}

// askPID asks nginx itself which worker answers.
func askPID(t *testing.T, conn *connection) int {
	t.Helper()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(response.Header.Get("X-Pid"))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestOwnerOfUnacceptedConnection(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%v", err) // IPv6 is not available
			continue
		}
		defer l.Close()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		us := []int{os.Getpid()}

		if _, err := Owner(conn, us); !errors.Is(err, ErrNotAccepted) {
			t.Errorf("in the listener's queue: %v, want ErrNotAccepted", err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if pid, err := Owner(conn, us); pid != us[0] || err != nil {
			t.Errorf("accepted: %d, %v, want %d", pid, err, us[0])
		}
		if _, err := Owner(conn, []int{1 << 22}); !errors.Is(err, ErrNotOwned) {
			t.Errorf("for other processes: %v, want ErrNotOwned", err)
		}
		accepted.Close()
		if pid, err := Owner(conn, us); err == nil {
			t.Errorf("closed: %d, want an error", pid)
		}
	}
}

func TestOwnerOfAPipe(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	if _, err := Owner(ours, []int{os.Getpid()}); err == nil {
		t.Error("a pipe has an owner")
	}
}

// One lookup must take much less time than the gap between two polls, however many sockets the
// machine has.
func BenchmarkOwner(b *testing.B) {
	for i := range 10_000 {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.77.%d.%d:18080", i/250, i%250+1))
		if err != nil {
			b.Skipf("listener %d: %v", i, err)
		}
		defer l.Close()
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if _, err := l.Accept(); err != nil {
		b.Fatal(err)
	}
	local, _ := addrPort(conn.RemoteAddr())
	remote, _ := addrPort(conn.LocalAddr())
	b.Run("sock_diag", func(b *testing.B) {
		for b.Loop() {
			if _, err := network(0).diagInode(local, remote); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("proc", func(b *testing.B) {
		for b.Loop() {
			if _, err := network(0).procInode(local, remote); err != nil {
				b.Fatal(err)
			}
		}
	})
}
