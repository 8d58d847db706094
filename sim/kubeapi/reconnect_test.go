package kubeapi

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/kubeapi/internal/store"
)

// sockets holds the connections that a client opened.
type sockets struct {
	mu   sync.Mutex
	open []net.Conn
}

func (s *sockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		s.mu.Lock()
		s.open = append(s.open, conn)
		s.mu.Unlock()
	}
	return conn, err
}

func (s *sockets) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.open {
		conn.Close()
	}
	s.open = nil
}

// An informer with a closed connection resumes from its last version, without a new list. An
// informer that resumes too late lists again, once.
func TestInformerReconnects(t *testing.T) {
	t.Parallel()
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	var conns sockets
	var sent requests
	config := sent.spy(s.Config())
	config.Dial = conns.dial
	informer := informers.NewSharedInformerFactory(client(t, config), 0).Core().V1().ConfigMaps().Informer()
	handler, events := seen()
	if _, err := informer.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("never synced")
	}
	create := func(name string) {
		t.Helper()
		if _, err := cms.Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("a")
	expect(t, events, "add a 1")
	conns.cut()
	create("b")
	expect(t, events, "add b 1")
	if urls := sent.all(); len(urls) != 2 || strings.Contains(urls[1], "sendInitialEvents") {
		t.Errorf("after a closed connection: %v", urls)
	}

	c := configMapsOf(s)
	c.LimitHistory(1)
	c.CommitMany(func(commit func(store.Transition) (*store.Object, error)) {
		conns.cut() // the informer cannot resume before the lock is released; then its version is too old
		for _, name := range []string{"x", "y"} {
			cm := configMap(name, "1")
			cm.Namespace = "default"
			next, err := c.Prepare(watch.Added, nil, cm)
			if err == nil {
				_, err = commit(next)
			}
			check(t, err)
		}
	})
	create("c")
	for got := ""; got != "add c 1"; { // the new list reports a and b again, in any order
		select {
		case got = <-events:
		case <-t.Context().Done():
			t.Fatal("the informer never reported c")
		}
	}
	if urls := sent.all(); len(urls) > 6 {
		t.Errorf("%d requests to recover: %v", len(urls), urls)
	}
}
