package kubeapi

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkUpdate is one PUT of a slice of ten endpoints over HTTP, while 1, 10
// or 100 others watch in protobuf. It ends when every watcher has every event.
func BenchmarkUpdate(b *testing.B) {
	for _, watchers := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			s := start(b)
			slices := client(b, s.Config()).DiscoveryV1().EndpointSlices("default")
			made, err := slices.Create(b.Context(), slice("web", 10), metav1.CreateOptions{})
			if err != nil {
				b.Fatal(err)
			}
			var reading sync.WaitGroup
			for range watchers {
				body := openWatch(b, s, made.ResourceVersion)
				reading.Go(func() { drain(b, body, b.N) })
			}
			b.ResetTimer()
			for i := range b.N { // not b.Loop: the watchers must know how many events to expect
				next := slice("web", 10)
				next.Labels["n"] = fmt.Sprint(i)
				if _, err := slices.Update(b.Context(), next, metav1.UpdateOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			reading.Wait()
		})
	}
}

func openWatch(b *testing.B, s *Server, rv string) io.ReadCloser {
	req, err := http.NewRequestWithContext(b.Context(), "GET", s.URL()+"/apis/discovery.k8s.io/v1/endpointslices?watch=1&resourceVersion="+rv, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", protobufType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	return resp.Body
}

// drain reads n frames.
func drain(b *testing.B, body io.ReadCloser, n int) {
	defer body.Close()
	for range n {
		var size [4]byte
		if _, err := io.ReadFull(body, size[:]); err != nil {
			b.Error(err)
			return
		}
		if _, err := io.CopyN(io.Discard, body, int64(size[0])<<24|int64(size[1])<<16|int64(size[2])<<8|int64(size[3])); err != nil {
			b.Error(err)
			return
		}
	}
}
