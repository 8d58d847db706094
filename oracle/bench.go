package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/load"
)

const turns = 3

// workload is a kind of writes.
type workload struct {
	name        string
	connections int // each writes as fast as the server answers
	objects     int // written by a call of a writer
	writer      func(b benchmark, client *kubernetes.Clientset, conn net.Conn, number int) (writer, error)
}

// writer makes its n-th write, and waits for the answers.
type writer func(n int64) error

var workloads = []workload{
	{"update slices", 16, 1, benchmark.updater},
	{"create applications", 32, load.PostObjects, benchmark.creator},
}

// contender is a server, and whether an informer of EndpointSlices follows the writes.
type contender struct {
	*server
	informed bool
}

// bench measures writes. The contenders take turns, so that other load on the machine affects all of
// them.
func bench(ctx context.Context, out io.Writer, turn time.Duration, contenders []contender) error {
	kubeapi.DedicateProcess() // spares the writers and the informer garbage collections
	results := results{}
	for i := range turns {
		for w, workload := range workloads {
			for _, mediaType := range []string{load.JSON, load.Protobuf} {
				for j, c := range contenders {
					b := benchmark{c, workload, mediaType, fmt.Sprintf("bench-%d-%d-%d-%s", i, w, j, mediaType[strings.LastIndexAny(mediaType, "/.")+1:])}
					m, err := b.run(ctx, turn)
					if err != nil {
						return fmt.Errorf("%s: %w", c.name, err)
					}
					results.add(resultsOf{workload.name, mediaType, c}, m)
				}
			}
		}
	}
	return results.write(out, contenders)
}

// benchmark is one turn of one contender. All requests and responses use one media type.
type benchmark struct {
	contender
	workload
	mediaType, namespace string
}

// measurement is the result of a turn.
type measurement struct {
	writes, events int64 // objects that the server wrote, events that the informer received
	took           time.Duration
	cpu, clientCPU time.Duration // of the server; of the writers and the informer
}

func (b benchmark) run(ctx context.Context, turn time.Duration) (m measurement, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !b.stateless {
		if err := newSession(b.server, b.namespace, nil).makeNamespace(ctx); err != nil {
			return m, err
		}
	}
	client, err := b.kubernetes()
	if err != nil {
		return m, err
	}
	writers, err := b.writers(ctx, client)
	if err != nil {
		return m, err
	}
	var events, writes atomic.Int64
	if b.informed {
		if err := b.inform(ctx, client, &events); err != nil {
			return m, err
		}
	}
	before, err := b.cpu()
	if err != nil {
		return m, err
	}
	clientBefore, begin := ownCPU(), time.Now()
	if err := writeAll(writers, begin.Add(turn), &writes); err != nil {
		return m, fmt.Errorf("writing: %w", err)
	}
	m = measurement{writes: writes.Load() * int64(b.objects), events: events.Load(), took: time.Since(begin)}
	m.clientCPU = ownCPU() - clientBefore
	after, err := b.cpu()
	m.cpu = after - before
	return m, err
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // getrusage(2): fails only for bad arguments
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func (b benchmark) kubernetes() (*kubernetes.Clientset, error) {
	config := &rest.Config{Host: b.url, BearerToken: b.token, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: b.mediaType}}
	config.Insecure = strings.HasPrefix(b.url, "https:") // the benchmark need not check the certificate
	return kubernetes.NewForConfig(config)
}

// writers opens a connection for each writer.
func (b benchmark) writers(ctx context.Context, client *kubernetes.Clientset) ([]writer, error) {
	var all []writer
	for i := range b.connections {
		conn, err := b.dial()
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		w, err := b.writer(b, client, conn, i)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// updater creates a slice and returns the writer that updates it.
func (b benchmark) updater(client *kubernetes.Clientset, conn net.Conn, number int) (writer, error) {
	slice := load.Slice(b.namespace, fmt.Sprintf("slice-%d", number), 10)
	if !b.stateless {
		if _, err := client.DiscoveryV1().EndpointSlices(b.namespace).Create(context.Background(), slice, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	putter, err := load.NewPutter(conn, slice, b.mediaType, b.token)
	if err != nil {
		return nil, err
	}
	return putter.Put, nil
}

// creator returns a writer that creates applications.
func (b benchmark) creator(_ *kubernetes.Clientset, conn net.Conn, number int) (writer, error) {
	poster, err := load.NewPoster(conn, b.namespace, fmt.Sprintf("app-%d", number), b.mediaType, b.token)
	if err != nil {
		return nil, err
	}
	return poster.Post, nil
}

// inform starts an informer that counts events, and waits until it has synced.
func (b benchmark) inform(ctx context.Context, client *kubernetes.Clientset, events *atomic.Int64) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(b.namespace))
	informer := factory.Discovery().V1().EndpointSlices().Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { events.Add(1) },
		UpdateFunc: func(any, any) { events.Add(1) },
	})
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer did not sync")
	}
	return nil
}

// writeAll lets all writers write until the time is over. Each makes its next write after the
// answers to the last.
func writeAll(writers []writer, until time.Time, writes *atomic.Int64) error {
	failed := make(chan error, len(writers))
	var writing sync.WaitGroup
	for _, write := range writers {
		writing.Go(func() {
			for n := int64(1); time.Now().Before(until); n++ {
				if err := write(n); err != nil {
					failed <- err
					return
				}
				writes.Add(1)
			}
		})
	}
	writing.Wait()
	close(failed)
	return <-failed
}

func (s *server) dial() (net.Conn, error) {
	if address, ok := strings.CutPrefix(s.url, "https://"); ok {
		return tls.Dial("tcp", address, s.client.Transport.(*http.Transport).TLSClientConfig)
	}
	return net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
}
