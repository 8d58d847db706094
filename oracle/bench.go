package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	writers = 16 // connections, each with a slice of its own
	turns   = 3
)

// bench measures updates of slices of ten endpoints with one informer
// connected, on both servers by turns, so that what else the machine does
// troubles both alike.
func bench(ctx context.Context, ours, real *server, turn time.Duration) error {
	total := map[*server]float64{}
	for i := range turns {
		for _, s := range []*server{ours, real} {
			rate, seen, err := s.updates(ctx, fmt.Sprintf("bench-%d", i), turn)
			if err != nil {
				return err
			}
			total[s] += rate / turns
			fmt.Printf("turn %d  %s  %8.0f updates/s  %8.0f events/s in the informer\n", i+1, s.name, rate, seen)
		}
	}
	fmt.Printf("mean    ours %.0f, real %.0f updates/s: %.1f times\n", total[ours], total[real], total[ours]/total[real])
	return nil
}

// updates returns how many updates a second the server took, and how many events a second an informer got.
func (s *server) updates(ctx context.Context, namespace string, turn time.Duration) (rate, seen float64, err error) {
	if err := newSession(s, namespace, nil).makeNamespace(ctx); err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var events, writes atomic.Int64
	if err := s.inform(ctx, namespace, &events); err != nil {
		return 0, 0, err
	}
	failed := make(chan error, writers)
	var writing sync.WaitGroup
	begin := time.Now()
	for i := range writers {
		writing.Go(func() {
			if err := s.write(namespace, fmt.Sprintf("slice-%d", i), begin.Add(turn), &writes); err != nil {
				failed <- err
			}
		})
	}
	writing.Wait()
	took := time.Since(begin).Seconds()
	select {
	case err := <-failed:
		return 0, 0, fmt.Errorf("%s: writing: %w", s.name, err)
	default:
	}
	return float64(writes.Load()) / took, float64(events.Load()) / took, nil
}

// inform connects an informer that counts, and waits until it has synced.
func (s *server) inform(ctx context.Context, namespace string, events *atomic.Int64) error {
	config := &rest.Config{Host: s.url, BearerToken: s.token, QPS: -1}
	config.Insecure = s.token != "" // the load, not the certificate, is what is looked at
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Discovery().V1().EndpointSlices().Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { events.Add(1) }})
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("%s: the informer did not sync", s.name)
	}
	return nil
}

// write updates one slice over one connection until the time is over. It writes
// the requests itself, for the client takes from the same cores as the server.
func (s *server) write(namespace, name string, until time.Time, writes *atomic.Int64) error {
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	collection := "/apis/discovery.k8s.io/v1/namespaces/" + namespace + "/endpointslices"
	slice := benchSlice(name)
	for n := 0; time.Now().Before(until); n++ {
		method, path, want := "PUT", collection+"/"+name, http.StatusOK
		if n == 0 {
			method, path, want = "POST", collection, http.StatusCreated
		}
		body := strings.Replace(slice, `"n":""`, fmt.Sprintf(`"n":"%d"`, n), 1)
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: oracle\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, s.token, len(body), body)
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want {
			return fmt.Errorf("%s %s: %s", method, path, resp.Status)
		}
		writes.Add(1)
	}
	return nil
}

func (s *server) dial() (net.Conn, error) {
	if address, ok := strings.CutPrefix(s.url, "https://"); ok {
		return tls.Dial("tcp", address, s.client.Transport.(*http.Transport).TLSClientConfig)
	}
	return net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
}

func benchSlice(name string) string {
	slice := discoveryv1.EndpointSlice{
		TypeMeta:    metav1.TypeMeta{Kind: "EndpointSlice", APIVersion: "discovery.k8s.io/v1"},
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/service-name": "web", "n": ""}},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for i := range 10 {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{fmt.Sprintf("10.1.2.%d", i+1)}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}, NodeName: new("node"),
		})
	}
	body, err := json.Marshal(slice)
	if err != nil {
		panic(err) // a literal always encodes
	}
	return string(body)
}
