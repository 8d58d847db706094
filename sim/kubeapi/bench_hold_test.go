package kubeapi

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/load"
)

// BenchmarkHold measures a real informer that syncs with 100,000 slices, which contain a million
// endpoints: over a WatchList, as informers do, and by a list in pages of 500, as kubectl does. The
// memory is that of the server after both.
func BenchmarkHold(b *testing.B) {
	const slices = 100000
	p := startProcess(b)
	c := client(b, p.config())
	createMany(b, c, slices)
	after := p.rssMiB(b)
	b.Run(fmt.Sprintf("slices=%d/sync", slices), func(b *testing.B) {
		cpu := p.cpu(b)
		for b.Loop() {
			syncOnce(b, c, slices)
		}
		reportHold(b, p, cpu, after)
	})
	b.Run(fmt.Sprintf("slices=%d/pages", slices), func(b *testing.B) {
		cpu := p.cpu(b)
		for b.Loop() {
			listPages(b, c, slices)
		}
		reportHold(b, p, cpu, after)
	})
}

func reportHold(b *testing.B, p process, cpu time.Duration, after float64) {
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/all")
	b.ReportMetric((p.cpu(b)-cpu).Seconds()/float64(b.N), "server-s/all")
	b.ReportMetric(after, "RSS-MiB-filled")
	b.ReportMetric(p.rssMiB(b), "RSS-MiB")
}

func createMany(b *testing.B, c *kubernetes.Clientset, n int) {
	b.Helper()
	var next atomic.Int64
	var creating sync.WaitGroup
	for range writers {
		creating.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := c.DiscoveryV1().EndpointSlices("default").Create(b.Context(), load.Slice("default", fmt.Sprintf("web-%06d", i), 10), metav1.CreateOptions{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	creating.Wait()
}

func syncOnce(b *testing.B, c *kubernetes.Clientset, want int) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	informer := informers.NewSharedInformerFactory(c, 0).Discovery().V1().EndpointSlices().Informer()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		b.Fatal("never synced")
	}
	if n := len(informer.GetStore().ListKeys()); n != want {
		b.Fatalf("the informer has %d slices", n)
	}
}

func listPages(b *testing.B, c *kubernetes.Clientset, want int) {
	n := 0
	for opts := (metav1.ListOptions{Limit: 500}); ; {
		page, err := c.DiscoveryV1().EndpointSlices("").List(b.Context(), opts)
		if err != nil {
			b.Fatal(err)
		}
		n += len(page.Items)
		if opts.Continue = page.Continue; opts.Continue == "" {
			break
		}
	}
	if n != want {
		b.Fatalf("the pages have %d slices", n)
	}
}

// BenchmarkSoak makes 10,000 changes a second, for a tenth of a second per iteration. One informer
// stays, and another one starts every ten seconds. It reports the server's memory after a quarter,
// after half and at the end.
func BenchmarkSoak(b *testing.B) {
	p := startProcess(b)
	c := client(b, p.config())
	createMany(b, c, 20000)
	var putters []*load.Putter
	for i := range writers {
		putters = append(putters, dialPutter(b, p, fmt.Sprintf("web-%06d", i+1), codec.ProtobufType))
	}
	inform(b, c)
	var next atomic.Int64
	var rss [3]float64
	b.ResetTimer()
	for i := range b.N {
		writeAll(b, puts(putters), 1000, 10000, &next)
		if i%100 == 99 {
			syncOnce(b, c, 20000)
		}
		switch i {
		case b.N / 4:
			rss[0] = p.rssMiB(b)
		case b.N / 2:
			rss[1] = p.rssMiB(b)
		}
	}
	b.StopTimer()
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	rss[2] = p.rssMiB(b)
	for i, when := range []string{"quarter", "half", "end"} {
		b.ReportMetric(rss[i], "RSS-MiB-"+when)
	}
}
