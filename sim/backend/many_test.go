package backend

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/event"
)

// Twenty thousand pods that share sockets: each answers with its own name. The memory that they use is
// bounded, and is free again afterwards; they use a few files.
func TestTwentyThousandPods(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; not run with -short")
	}
	needShared(t)
	testMany(t, newFleet, 20_000, 20)
}

// Pods with sockets of their own use a file each.
func TestManyPodsWithOwnSockets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; not run with -short")
	}
	const many = 2000
	needFiles(t, many+1000)
	testMany(t, func(t *testing.T, log *event.Log) *Loopback { return fleetOf(t, log, true) }, many, many+100)
}

// testMany starts many pods, which may open at most the given number of files.
func testMany(t *testing.T, newFleet makeFleet, many, files int) {
	before, filesBefore := memory(), openFiles(t)
	f := newFleet(t, nil)
	pods := startMany(t, f, many)
	if open := openFiles(t) - filesBefore; open > files {
		t.Errorf("%d pods have %d open files", many, open)
	}
	askMany(t, pods)

	each := (memory() - before) / many
	t.Logf("%d bytes per pod", each)
	if each > 64<<10 {
		t.Errorf("a pod uses %d bytes", each)
	}
	mustRefuse(t, start(t, f, "demo/starting"))
	pods[many/2].Gone()
	mustRefuse(t, pods[many/2])

	f.Stop()
	mustRefuse(t, pods[0])
	if left := openFiles(t) - filesBefore; left > 100 {
		t.Errorf("%d files are still open after Stop", left)
	}
	if now := memory() - before; now > many*8<<10 {
		t.Errorf("%d bytes are still in use after Stop", now)
	}
	runtime.KeepAlive(pods)
}

func name(i int) string { return fmt.Sprintf("demo/web-%05d", i) }

// startMany starts n pods with names.
func startMany(t testing.TB, f *Loopback, n int) []Pod {
	t.Helper()
	pods := make([]Pod, n)
	for i := range pods {
		p, err := f.Start(name(i), "demo/web")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Ready(); err != nil {
			t.Fatal(err)
		}
		pods[i] = p
	}
	return pods
}

// askMany asks each pod over a connection of its own. Each must answer with its name.
func askMany(t testing.TB, pods []Pod) {
	t.Helper()
	var asks errgroup.Group
	asks.SetLimit(16)
	for i, p := range pods {
		asks.Go(func() error {
			identity, err := askOnce(p.Addr())
			if err == nil && (identity.Pod != name(i) || identity.State != Ready) {
				err = fmt.Errorf("pod %s answered as %+v", name(i), identity)
			}
			return err
		})
	}
	if err := asks.Wait(); err != nil {
		t.Fatal(err)
	}
}

// askOnce sends a request over a new connection. It costs a fraction of what net/http's client does.
func askOnce(to netip.AddrPort) (Identity, error) {
	conn, err := net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(to))
	if err != nil {
		return Identity{}, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return Identity{}, err
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return Identity{}, err
	}
	_, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	return ParseIdentity(body)
}

// needFiles skips the test if the limit of open files is too low. The Go runtime raises the soft
// limit to the hard one at start (package os).
func needFiles(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur < n {
		t.Skipf("needs %d open files, the limit is %d: raise it with ulimit -Hn", n, limit.Cur)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("cannot count open files: %v", err)
	}
	return len(files)
}

// memory returns the bytes in use on the heap and on stacks.
func memory() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// resident returns the resident memory of this process, in bytes: proc(5), VmRSS.
func resident(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("cannot read the resident memory: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
