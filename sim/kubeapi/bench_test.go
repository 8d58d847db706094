package kubeapi

import (
	"fmt"
	"net"
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

const writers = 16

// createSlices creates the slices that the putters change, one for each putter, and returns the
// version of the last one.
func createSlices(b *testing.B, c *kubernetes.Clientset) (names []string, rv string) {
	b.Helper()
	for i := range writers {
		names = append(names, fmt.Sprintf("web-%05d", i))
		made, err := c.DiscoveryV1().EndpointSlices("default").Create(b.Context(), load.Slice("default", names[i], 10), metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
		rv = made.ResourceVersion
	}
	return names, rv
}

func newPutters(b *testing.B, p process, names []string, mediaType string) []*load.Putter {
	b.Helper()
	var putters []*load.Putter
	for _, name := range names {
		putters = append(putters, dialPutter(b, p, name, mediaType))
	}
	return putters
}

// BenchmarkUpdateHTTP measures PUTs of slices with ten endpoints from 16 connections, each as fast
// as the server answers, while a real informer (which reads protobuf) follows.
func BenchmarkUpdateHTTP(b *testing.B) {
	for _, informed := range []bool{true, false} {
		for name, mediaType := range map[string]string{"json": "application/json", "protobuf": codec.ProtobufType} {
			b.Run(fmt.Sprintf("body=%s/informers=%d", name, map[bool]int{true: 1}[informed]), func(b *testing.B) {
				p := startProcess(b)
				c := client(b, p.config())
				names, _ := createSlices(b, c)
				putters := newPutters(b, p, names, mediaType)
				events := func() int64 { return 0 }
				if informed {
					events = inform(b, c)
				}
				var next atomic.Int64
				b.ResetTimer()
				cpu, seen := p.cpu(b), events()
				writeAll(b, puts(putters), b.N, 0, &next)
				b.StopTimer()
				reportWrites(b, p.cpu(b)-cpu)
				if informed {
					b.ReportMetric(float64(events()-seen)/b.Elapsed().Seconds(), "events/s")
				}
			})
		}
	}
}

// BenchmarkCreateHTTP measures the creation of applications of three objects from 32 connections, each
// as fast as the server answers.
func BenchmarkCreateHTTP(b *testing.B) {
	for name, mediaType := range map[string]string{"json": "application/json", "protobuf": codec.ProtobufType} {
		b.Run("body="+name, func(b *testing.B) {
			p := startProcess(b)
			var posts []func(int64) error
			for i := range 2 * writers {
				conn, err := net.Dial("tcp", p.address())
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { conn.Close() })
				poster, err := load.NewPoster(conn, "default", fmt.Sprintf("app-%d", i), mediaType, benchToken)
				if err != nil {
					b.Fatal(err)
				}
				posts = append(posts, poster.Post)
			}
			var next atomic.Int64
			b.ResetTimer()
			cpu := p.cpu(b)
			writeAll(b, posts, b.N, 0, &next)
			b.StopTimer()
			cpu = p.cpu(b) - cpu
			objects := load.PostObjects * float64(b.N)
			b.ReportMetric(objects/b.Elapsed().Seconds(), "creates/s")
			b.ReportMetric(float64(cpu.Microseconds())/objects, "server-µs/create")
		})
	}
}

// BenchmarkEcho is BenchmarkUpdateHTTP with a server that only returns each body: the upper bound for
// servers that use net/http.
func BenchmarkEcho(b *testing.B) {
	for name, mediaType := range map[string]string{"json": "application/json", "protobuf": codec.ProtobufType} {
		b.Run("body="+name, func(b *testing.B) {
			p := startProcessOf(b, "TestEchoAlone")
			var names []string
			for i := range writers {
				names = append(names, fmt.Sprintf("web-%05d", i))
			}
			putters := newPutters(b, p, names, mediaType)
			var next atomic.Int64
			b.ResetTimer()
			cpu := p.cpu(b)
			writeAll(b, puts(putters), b.N, 0, &next)
			b.StopTimer()
			reportWrites(b, p.cpu(b)-cpu)
		})
	}
}

// inform starts an informer of slices and returns a function that counts its updates.
func inform(b *testing.B, c *kubernetes.Clientset) func() int64 {
	b.Helper()
	var updates atomic.Int64
	informer := informers.NewSharedInformerFactory(c, 0).Discovery().V1().EndpointSlices().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates.Add(1) }}); err != nil {
		b.Fatal(err)
	}
	go informer.RunWithContext(b.Context())
	if !cache.WaitForCacheSync(b.Context().Done(), informer.HasSynced) {
		b.Fatal("the informer never synced")
	}
	return updates.Load
}

func reportWrites(b *testing.B, cpu time.Duration) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "server-µs/update")
}

// BenchmarkFanOut measures 10,000 PUTs a second with 10 or 100 other watchers. It ends when every
// watcher has received every event. It fails if a watch closes earlier.
func BenchmarkFanOut(b *testing.B) {
	for _, watchers := range []int{10, 100} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			p := startProcess(b)
			names, rv := createSlices(b, client(b, p.config()))
			putters := newPutters(b, p, names, codec.ProtobufType)
			var reading sync.WaitGroup
			var next atomic.Int64
			for range watchers {
				watcher := dialWatcher(b, p, rv)
				reading.Go(func() {
					if err := watcher.Skip(b.N); err != nil {
						b.Error(err)
					}
				})
			}
			b.ResetTimer()
			cpu := p.cpu(b)
			writeAll(b, puts(putters), b.N, 10000, &next)
			reading.Wait()
			b.StopTimer()
			cpu = p.cpu(b) - cpu
			events := float64(watchers) * float64(b.N)
			reportWrites(b, cpu)
			b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(cpu.Microseconds())/events, "server-µs/event")
			b.ReportMetric(p.rssMiB(b), "RSS-MiB")
		})
	}
}
