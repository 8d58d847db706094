package kubeapi

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/load"
)

// BenchmarkChurnInProcess measures updates of slices with ten endpoints by a Writer, without
// watchers: by one goroutine, by one in batches, and by one per processor.
func BenchmarkChurnInProcess(b *testing.B) {
	for _, test := range []struct{ goroutines, batch int }{{1, 1}, {1, 100}, {runtime.GOMAXPROCS(0), 1}} {
		b.Run(fmt.Sprintf("goroutines=%d/batch=%d", test.goroutines, test.batch), func(b *testing.B) {
			w := start(b).Writer()
			var next atomic.Int64
			var churning sync.WaitGroup
			self := process{pid: os.Getpid()}
			b.ReportAllocs()
			b.ResetTimer()
			cpu := self.cpu(b)
			for g := range test.goroutines {
				churning.Go(func() { churn(b, w, g, test.batch, &next) })
			}
			churning.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
			b.ReportMetric(float64((self.cpu(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/update")
		})
	}
}

// churn changes objects of its own until all goroutines have made b.N changes together.
func churn(b *testing.B, w Writer, owner, batch int, next *atomic.Int64) {
	population := make([]*discoveryv1.EndpointSlice, 1000)
	for i := range population {
		population[i] = load.Slice("default", fmt.Sprintf("web-%d-%05d", owner, i), 10)
		if _, err := w.Create(population[i]); err != nil {
			b.Error(err)
			return
		}
	}
	changes := make([]Change, 0, batch)
	for i := 0; ; i++ {
		n := next.Add(1)
		if n <= int64(b.N) {
			slice := population[i%len(population)]
			slice.Endpoints[0].Addresses[0] = fmt.Sprintf("127.2.%d.%d", n/250%250, n%250)
			changes = append(changes, Change{Kind: watch.Modified, Object: slice})
		}
		if len(changes) == batch || (n > int64(b.N) && len(changes) > 0) {
			if _, err := w.Apply(changes); err != nil {
				b.Error(err)
				return
			}
			changes = changes[:0]
		}
		if n > int64(b.N) {
			return
		}
	}
}
