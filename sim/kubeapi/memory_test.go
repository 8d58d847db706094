package kubeapi

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/load"
)

// Watches whose clients do not read use little memory, and an otherwise idle process returns it
// soon after the watches end.
func TestDroppedWatchesReturnTheirMemory(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0", Anonymous: true})
	writer := s.Writer()
	for i := range 400 { // half a megabyte for each watch
		if _, err := writer.Create(load.Slice("default", fmt.Sprintf("web-%05d", i), 10)); err != nil {
			t.Fatal(err)
		}
	}
	held := func() (bytes uint64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	within := func(what string, is func() bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) { return is(), nil }); err != nil {
			t.Errorf("%s: %d MiB, %d goroutines", what, held()>>20, runtime.NumGoroutine())
		}
	}
	runtime.GC()
	before, goroutines := held(), runtime.NumGoroutine()
	const watches = 2 * reclaimAfter
	var conns []net.Conn
	for range watches {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprint(conn, "GET /apis/discovery.k8s.io/v1/endpointslices?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: localhost\r\nAccept: "+codec.ProtobufType+"\r\n\r\n")
		conns = append(conns, conn)
	}
	slices := s.state.BuiltIn(discoveryv1.SchemeGroupVersion, "endpointslices")
	within("all watch", func() bool { return slices.Watchers.Load() == watches })
	runtime.GC()
	if each := (held() - before) / watches; each > 256<<10 {
		t.Errorf("each watch uses %d KiB", each>>10)
	}
	for _, conn := range conns {
		conn.Close()
	}
	within("the watches have ended", func() bool { return slices.Watchers.Load() == 0 && runtime.NumGoroutine() <= goroutines+5 })
	within("their memory is free", func() bool { return held() < before+16<<20 }) // the test does not start a garbage collection
}
