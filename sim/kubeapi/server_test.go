package kubeapi

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// start runs a server over HTTP and HTTPS for the duration of a test. It requires no credentials.
func start(t testing.TB) *Server {
	t.Helper()
	return startWith(t, Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", Dir: t.TempDir(), Anonymous: true, AllowLoopbackEndpoints: true})
}

func startWith(t testing.TB, opts Options) *Server {
	t.Helper()
	s, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, s)
	return s
}

func closeLater(t testing.TB, s *Server) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

func client(t testing.TB, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStartRefusesInvalidOptions(t *testing.T) {
	busy := start(t)
	taken := strings.TrimPrefix(busy.URL(), "http://")
	for name, test := range map[string]struct {
		opts Options
		want []string
	}{
		"port in use":     {Options{HTTP: taken}, []string{taken, "in use", "port 0"}},
		"all addresses":   {Options{HTTP: "0.0.0.0:0"}, []string{"0.0.0.0:0", "loopback", "127.0.0.1:0"}},
		"no host":         {Options{HTTPS: ":6443"}, []string{":6443", "loopback", "127.0.0.1:6443"}},
		"no port":         {Options{HTTP: "127.0.0.1"}, []string{"127.0.0.1", "host:port"}},
		"no address":      {Options{}, []string{"neither", "127.0.0.1:0"}},
		"garbage version": {Options{HTTP: "127.0.0.1:0", Version: "latest"}, []string{"latest", DefaultVersion}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Start(test.opts)
			if err == nil {
				s.Close(context.Background())
				t.Fatal("the server started")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestHoldsCountsObjects(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	for _, name := range []string{"a", "b"} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	holds := s.Holds()
	if holds["configmaps"] != 2 || holds["namespaces"] != 4 || len(holds) != 2 {
		t.Errorf("holds %v", holds)
	}
}

// An open watch ends cleanly, without an error in its stream, when the server stops.
func TestCloseEndsWatches(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, config := range []*rest.Config{s.Config(), s.TLSConfig()} {
		w, err := client(t, config).CoreV1().Services("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			for e := range w.ResultChan() {
				t.Errorf("event %s %v", e.Type, e.Object)
			}
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
