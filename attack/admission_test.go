package attack_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/admission"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/snapshot"
)

// webhook is the controller's webhook in a cluster with other ingresses.
type webhook struct {
	*testing.T
	address string
	client  *http.Client
}

// startWebhook serves the webhook of a cluster with n ingresses.
func startWebhook(t *testing.T, n int) webhook {
	t.Helper()
	c := ready()
	for i := range n {
		c.ingresses = append(c.ingresses, ingress(fmt.Sprintf("other-%d", i), map[string]string{"limit-rps": "5"}))
	}
	cluster, in := snapshot.Take(c), allModules()
	reviewer := &admission.Reviewer{
		Cluster: func() snapshot.Snapshot { return cluster },
		Input:   func() compile.Input { return compile.Input{Input: in} },
		Inspect: func(*networkingv1.Ingress) error { return nil },
		Serves:  func(*networkingv1.Ingress) bool { return true },
	}
	quiet := slog.New(slog.DiscardHandler)
	folder := t.TempDir()
	file := filepath.Join(folder, "tls.pem")
	if err := os.WriteFile(file, []byte(certificate().PEM), 0o600); err != nil {
		t.Fatal(err)
	}
	pair, err := admission.Load(file, file, quiet)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := admission.Server(admission.Handler(reviewer.Review, func(metrics.Admission) {}, quiet), pair, quiet)
	ended := make(chan error, 1)
	go func() { ended <- admission.Serve(server, listener) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // a test's own certificate
	t.Cleanup(transport.CloseIdleConnections)
	return webhook{t, listener.Addr().String(), &http.Client{Transport: transport}}
}

// ask sends a review. It returns the status and whether the ingress is allowed.
func (w webhook) ask(body []byte) (status int, allowed bool) {
	answer, err := w.client.Post("https://"+w.address, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, false
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	var review admissionv1.AdmissionReview
	if json.Unmarshal(text, &review) != nil || review.Response == nil {
		return answer.StatusCode, false
	}
	return answer.StatusCode, review.Response.Allowed
}

// review returns the admission review of a new ingress.
func review(t *testing.T, i *networkingv1.Ingress) []byte {
	t.Helper()
	object, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1"},
		Request: &admissionv1.AdmissionRequest{
			UID: "u", Operation: admissionv1.Create, Namespace: i.Namespace, Name: i.Name,
			Kind: metav1.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}, Object: k8sruntime.RawExtension{Raw: object},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// large returns an ingress of several MB.
func large(name string, paths int) *networkingv1.Ingress {
	i := ingress(name, nil)
	repeatPaths(i, paths)
	for k := range i.Spec.Rules[0].HTTP.Paths {
		i.Spec.Rules[0].HTTP.Paths[k].PathType = new(networkingv1.PathTypePrefix)
	}
	return i
}

// peak returns the maximum growth of the heap while f ran, in bytes.
func peak(f func()) uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	before, most := stats.HeapInuse, uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-tick.C:
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapInuse)
			case <-stop:
				return
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return max(most, before) - before
}

// Many large reviews at once use bounded memory, and each gets a response.
func TestLargeReviewsAreBounded(t *testing.T) {
	const mostHeap = 1 << 30
	w := startWebhook(t, 0)
	paths := attack.Times(5500, 30_000)
	body := review(t, large("big", paths))
	atOnce := attack.Times(3, 20)
	row := attack.Row{
		Target: "admission", Attack: fmt.Sprintf("reviews of %.1f MB, %d at once", float64(len(body))/1e6, atOnce),
		Success: fmt.Sprintf("an ingress of %d paths is allowed, no response, or more than 1 GB of heap", paths),
	}
	var mu sync.Mutex
	used := peak(func() {
		for range attack.Times(1, 10) {
			var all sync.WaitGroup
			for range atOnce {
				all.Go(func() {
					status, allowed := w.ask(body)
					mu.Lock()
					defer mu.Unlock()
					row.Tried++
					busy := status == http.StatusServiceUnavailable || status == http.StatusRequestTimeout
					if allowed || status != http.StatusOK && !busy {
						row.Landed++
						t.Errorf("status %d, allowed %t", status, allowed)
					}
				})
			}
			all.Wait()
		}
	})
	row.Note = fmt.Sprintf("%d MB of heap", used>>20)
	if used > mostHeap {
		row.Landed++
		t.Errorf("%d MB of heap", used>>20)
	}
	attack.Report(t, row)
}

// A review costs the same in a cluster of ten thousand ingresses as in an empty one. The test
// compares allocations, which do not depend on the load of the machine.
func TestOtherIngressesCostNothing(t *testing.T) {
	row := attack.Row{Target: "admission", Attack: "a review in a cluster of 10,000 ingresses", Success: "more than ten times the memory of one in an empty cluster, plus 10 MB"}
	allocated := func(others int) uint64 {
		w := startWebhook(t, others)
		body := review(t, ingress("new", nil))
		w.ask(body) // for allocations that happen only once
		_, bytes := spent(t, func() {
			for range 10 {
				row.Tried++
				if status, allowed := w.ask(body); status != http.StatusOK || !allowed {
					t.Errorf("status %d, allowed %t", status, allowed)
				}
			}
		})
		return bytes / 10
	}
	alone, beside := allocated(0), allocated(attack.Times(1000, 10_000))
	row.Note = fmt.Sprintf("%d KB in an empty cluster, %d KB in the large one", alone>>10, beside>>10)
	if beside > 10*alone+10<<20 {
		row.Landed++
	}
	attack.Report(t, row)
}

// The webhook rejects bodies and headers that are too large. A full run also sends bodies that arrive
// too slowly.
func TestLargeAndSlowRequestsAreRejected(t *testing.T) {
	w := startWebhook(t, 0)
	row := attack.Row{Target: "admission", Attack: "9 MiB, with and without Content-Length; a megabyte of headers", Success: "it is accepted"}
	huge := bytes.Repeat([]byte(" "), 9<<20)
	for _, body := range []io.Reader{bytes.NewReader(huge), io.LimitReader(bytes.NewReader(huge), 9<<20)} {
		row.Tried++
		answer, err := w.client.Post("https://"+w.address, "application/json", body)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusRequestEntityTooLarge {
				row.Landed++
				t.Errorf("status %d for 9 MiB", answer.StatusCode)
			}
		}
	}
	row.Tried++
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+w.address, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-A", strings.Repeat("a", 1<<20))
	if answer, err := w.client.Do(request); err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			row.Landed++
			t.Errorf("status %d for a megabyte of headers", answer.StatusCode)
		}
	}
	if status, allowed := w.ask(review(t, ingress("new", nil))); status != http.StatusOK || !allowed {
		t.Errorf("a small review gets status %d, allowed: %v", status, allowed)
	}
	attack.Report(t, row)
	if attack.Full() {
		slowBodies(t, w)
	}
}

// slowBodies keeps many requests open. The webhook answers another review in the meantime, and
// closes all slow connections in the end.
func slowBodies(t *testing.T, w webhook) {
	t.Helper()
	row := attack.Row{Target: "admission", Attack: "bodies that arrive at one byte per second", Success: "one is still open after a minute, or a small review waits for them"}
	var open []net.Conn
	for range 200 {
		connection, err := tls.Dial("tcp", w.address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test's own certificate
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n{")
		open = append(open, connection)
	}
	row.Tried = len(open)
	if status, allowed := w.ask(review(t, ingress("new", nil))); status != http.StatusOK || !allowed {
		row.Landed++
		t.Errorf("status %d, allowed %t", status, allowed)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, connection := range open {
		all.Go(func() {
			_ = connection.SetReadDeadline(time.Now().Add(time.Minute))
			stop := make(chan struct{})
			go func() {
				for tick := time.NewTicker(time.Second); ; {
					select {
					case <-tick.C:
						_, _ = connection.Write([]byte(" "))
					case <-stop:
						return
					}
				}
			}()
			_, err := io.ReadAll(connection)
			close(stop)
			if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
				mu.Lock()
				row.Landed++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	attack.Report(t, row)
}
