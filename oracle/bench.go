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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/kubeapi/load"
)

const (
	writers = 16 // connections, each with its own slice
	turns   = 3
)

// bench measures updates of EndpointSlices of ten endpoints with one connected informer. The
// servers take turns, so that other load on the machine affects all of them. The others are
// compared with the last server.
func bench(ctx context.Context, out io.Writer, servers []*server, turn time.Duration) error {
	results := results{}
	for i := range turns {
		for _, mediaType := range []string{load.JSON, load.Protobuf} {
			for _, s := range servers {
				b := benchmark{s, mediaType, fmt.Sprintf("bench-%d-%s", i, mediaType[strings.LastIndexAny(mediaType, "/.")+1:])}
				m, err := b.run(ctx, turn)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				results.add(s.name, mediaType, m)
			}
		}
	}
	return results.write(out, servers)
}

// benchmark is one turn of one server. All requests and responses use one media type.
type benchmark struct {
	*server
	mediaType, namespace string
}

// measurement is the result of a turn.
type measurement struct {
	updates, events int64 // updates that the server accepted, events that the informer received
	took, cpu       time.Duration
}

func (b benchmark) run(ctx context.Context, turn time.Duration) (m measurement, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.namespace += "-" + strings.ToLower(b.name[strings.LastIndex(b.name, " ")+1:]) // the HTTP and HTTPS servers share their objects
	if err := newSession(b.server, b.namespace, nil).makeNamespace(ctx); err != nil {
		return m, err
	}
	client, err := b.kubernetes()
	if err != nil {
		return m, err
	}
	putters, err := b.putters(ctx, client)
	if err != nil {
		return m, err
	}
	var events, updates atomic.Int64
	if err := b.inform(ctx, client, &events); err != nil {
		return m, err
	}
	before, err := b.cpu()
	if err != nil {
		return m, err
	}
	begin := time.Now()
	if err := putAll(putters, begin.Add(turn), &updates); err != nil {
		return m, fmt.Errorf("writing: %w", err)
	}
	m = measurement{updates: updates.Load(), events: events.Load(), took: time.Since(begin)}
	after, err := b.cpu()
	m.cpu = after - before
	return m, err
}

func (b benchmark) kubernetes() (*kubernetes.Clientset, error) {
	config := &rest.Config{Host: b.url, BearerToken: b.token, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: b.mediaType}}
	config.Insecure = strings.HasPrefix(b.url, "https:") // the benchmark need not check the certificate
	return kubernetes.NewForConfig(config)
}

// putters creates the slices, and opens a connection for the updates of each.
func (b benchmark) putters(ctx context.Context, client *kubernetes.Clientset) ([]*load.Putter, error) {
	var all []*load.Putter
	for i := range writers {
		slice := load.Slice(b.namespace, fmt.Sprintf("slice-%d", i), 10)
		if _, err := client.DiscoveryV1().EndpointSlices(b.namespace).Create(ctx, slice, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		conn, err := b.dial()
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		putter, err := load.NewPutter(conn, slice, b.mediaType, b.token)
		if err != nil {
			return nil, err
		}
		all = append(all, putter)
	}
	return all, nil
}

// inform starts an informer that counts events, and waits until it has synced.
func (b benchmark) inform(ctx context.Context, client *kubernetes.Clientset, events *atomic.Int64) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(b.namespace))
	informer := factory.Discovery().V1().EndpointSlices().Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { events.Add(1) }})
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer did not sync")
	}
	return nil
}

// putAll lets all putters send updates until the time is over. Each sends the next update after the
// response to the last.
func putAll(putters []*load.Putter, until time.Time, updates *atomic.Int64) error {
	failed := make(chan error, len(putters))
	var writing sync.WaitGroup
	for _, p := range putters {
		writing.Go(func() {
			for n := int64(1); time.Now().Before(until); n++ {
				if err := p.Put(n); err != nil {
					failed <- err
					return
				}
				updates.Add(1)
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
