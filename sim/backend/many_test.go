package backend

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"
)

const many = 10_000

// Ten thousand pods at once: each listens and answers with its own name. The memory and files
// that they use are bounded, and are free again afterwards.
func TestTenThousandPods(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; not run with -short")
	}
	needFiles(t, many+1000)
	before, filesBefore := memory(), openFiles(t)

	f := newFleet(t, nil)
	pods := make([]Pod, many)
	var starts errgroup.Group
	starts.SetLimit(8)
	for i := range pods {
		starts.Go(func() error {
			p, err := f.Start(name(i), "demo/web")
			if err != nil {
				return err
			}
			pods[i] = p
			return p.Ready()
		})
	}
	if err := starts.Wait(); err != nil {
		t.Fatal(err)
	}
	if open := openFiles(t) - filesBefore; open > many+100 {
		t.Errorf("%d pods have %d open files", many, open)
	}

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var asks errgroup.Group
	asks.SetLimit(64)
	for i, p := range pods {
		asks.Go(func() error {
			response, err := client.Get("http://" + p.Addr().String())
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if got := IdentityOf(response.Header); got.Pod != name(i) || got.State != Ready {
				return fmt.Errorf("pod %s answered as %+v", name(i), got)
			}
			return nil
		})
	}
	if err := asks.Wait(); err != nil {
		t.Fatal(err)
	}

	each := (memory() - before) / many
	t.Logf("%d bytes per pod", each)
	if each > 64<<10 {
		t.Errorf("a pod uses %d bytes", each)
	}
	f.Stop()
	if left := openFiles(t) - filesBefore; left > 100 {
		t.Errorf("%d files are still open after Stop", left)
	}
	if now := memory() - before; now > many*8<<10 {
		t.Errorf("%d bytes are still in use after Stop", now)
	}
	runtime.KeepAlive(pods)
}

func name(i int) string { return fmt.Sprintf("demo/web-%05d", i) }

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

func openFiles(t *testing.T) int {
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
