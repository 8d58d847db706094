package admission

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/snapshot"
)

// The cost of a review does not grow with the ingresses of other hosts.
func TestOnlyIngressesOfItsHostsAreCompiled(t *testing.T) {
	var cluster snapshot.Snapshot
	for i := range 1000 {
		other := ingress(t, paths(fmt.Sprintf("h%d.example", i), "/", "Prefix"))
		other.Name = fmt.Sprintf("other-%d", i)
		cluster.Ingresses = append(cluster.Ingresses, other)
	}
	alias := ingress(t, annotated(ours+`server-alias: "a.example, www.H7.example"`)+paths("alias.example", "/", "Prefix"))
	alias.Name = "alias"
	cluster.Ingresses = append(cluster.Ingresses, alias)
	r := reviewer(t, nil)
	options := r.Input().Options
	var kept []string
	for _, other := range neighboursOf(cluster, ingress(t, paths("h7.example", "/a", "Prefix")), options).Ingresses {
		kept = append(kept, other.Name)
	}
	if got := strings.Join(kept, " "); got != "other-7 alias" {
		t.Errorf("neighbours %s, want other-7 alias", got)
	}
}

// An ingress with too many paths is denied before it is compiled.
func TestTooManyPathsAreRefusedAtOnce(t *testing.T) {
	many := ingress(t, paths("h.example", "/", "Prefix"))
	rule := many.Spec.Rules[0].HTTP
	for i := range 30_000 {
		path := rule.Paths[0]
		path.Path = fmt.Sprintf("/%d", i)
		rule.Paths = append(rule.Paths, path)
	}
	r := reviewer(t, nil)
	verdict := r.Review(many)
	if verdict.Denial == nil || !strings.Contains(verdict.Denial.Error(), "more than 5000") || verdict.Cost.Tested > 0 {
		t.Errorf("verdict %+v, want a denial before compilation", verdict)
	}
}

// timed is a response whose deadline for reading the request is recorded.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (r *timed) SetReadDeadline(t time.Time) error {
	r.until = t
	return nil
}

// late is a body that does not arrive in time.
type late struct{}

func (late) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// A large review waits for its turn before it is read; the wait does not count toward the read
// timeout. A review that does not arrive in time is not a bad request.
func TestWaitingForATurnDoesNotCountAsReading(t *testing.T) {
	handler := Handler(func(*networkingv1.Ingress) Verdict { return Verdict{} }, func(metrics.Admission) {}, slog.New(slog.DiscardHandler))
	request := httptest.NewRequest(http.MethodPost, "/", late{})
	request.ContentLength = small + 1
	w, began := &timed{ResponseRecorder: httptest.NewRecorder()}, time.Now()
	handler.ServeHTTP(w, request)
	if w.until.Before(began.Add(readTimeout)) {
		t.Errorf("the read timeout ends %v after the start, want at least %v", w.until.Sub(began), readTimeout)
	}
	if w.Code != http.StatusRequestTimeout {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// At most mostChecked reviews are checked at once; others wait.
func TestReviewsWaitForTheirTurn(t *testing.T) {
	inside, release := make(chan struct{}, 100), make(chan struct{})
	w := startWebhook(t, func(*networkingv1.Ingress) Verdict {
		inside <- struct{}{}
		<-release
		return Verdict{}
	})
	const reviews = 3 * mostChecked
	answered := make(chan int, reviews)
	for i := range reviews {
		body := reviewBody(ingressKind, fmt.Sprintf(`{"metadata":{"name":"i%d"}}`, i))
		go func() {
			code, _ := w.post(t, body)
			answered <- code
		}()
	}
	for range mostChecked {
		<-inside
	}
	select {
	case <-inside:
		t.Errorf("more than %d reviews are checked at once", mostChecked)
	case code := <-answered:
		t.Errorf("a waiting review got status %d", code)
	case <-time.After(50 * time.Millisecond): // if the limit is broken, this fails most of the time; if not, never
	}
	close(release)
	for range reviews {
		if code := <-answered; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	}
}

// The server has timeouts, and refuses a review that is too large before it reads the body.
func TestTheServerHasLimits(t *testing.T) {
	server := Server(nil, nil, quiet)
	if server.ReadTimeout == 0 || server.WriteTimeout == 0 || server.IdleTimeout == 0 || server.MaxHeaderBytes == 0 {
		t.Errorf("read %v, write %v, idle %v, header %d", server.ReadTimeout, server.WriteTimeout, server.IdleTimeout, server.MaxHeaderBytes)
	}
	w := startWebhook(t, func(*networkingv1.Ingress) Verdict { return Verdict{} })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+w.address, io.LimitReader(bytes.NewReader(nil), 0))
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = largest
	request.Body = io.NopCloser(neverRead{t})
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d for a large review, want 413", answer.StatusCode)
	}
}

// neverRead is a body that never arrives.
type neverRead struct{ t *testing.T }

func (n neverRead) Read([]byte) (int, error) {
	<-n.t.Context().Done()
	return 0, io.EOF
}
