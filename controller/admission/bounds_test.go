package admission

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
)

// What a question costs does not grow with the ingresses of other hosts.
func TestOnlyIngressesOfItsHostsAreTried(t *testing.T) {
	var cluster snapshot.Snapshot
	for i := range 1000 {
		other := ingress(t, paths(fmt.Sprintf("h%d.example", i), "/", "Prefix"))
		other.Name = fmt.Sprintf("other-%d", i)
		cluster.Ingresses = append(cluster.Ingresses, other)
	}
	alias := ingress(t, annotated(ours+`server-alias: "a.example, www.h7.example"`)+paths("alias.example", "/", "Prefix"))
	alias.Name = "alias"
	cluster.Ingresses = append(cluster.Ingresses, alias)
	c := checker(t, nil)
	options := c.Input().Options
	var kept []string
	for _, other := range near(cluster, ingress(t, paths("h7.example", "/a", "Prefix")), options).Ingresses {
		kept = append(kept, other.Name)
	}
	if got := strings.Join(kept, " "); got != "other-7 alias" {
		t.Errorf("%s are tried, want other-7 alias", got)
	}
}

// An ingress with more paths than can be of use is refused before anything is made of it.
func TestTooManyPathsAreRefusedAtOnce(t *testing.T) {
	many := ingress(t, paths("h.example", "/", "Prefix"))
	rule := many.Spec.Rules[0].HTTP
	for i := range 30_000 {
		path := rule.Paths[0]
		path.Path = fmt.Sprintf("/%d", i)
		rule.Paths = append(rule.Paths, path)
	}
	c := checker(t, nil)
	verdict := c.Check(many)
	if verdict.Refusal == nil || !strings.Contains(verdict.Refusal.Error(), "more than 5000") || verdict.Cost.Tested > 0 {
		t.Errorf("verdict %+v", verdict)
	}
}

// While as many questions are checked as may be at once, others wait; those that
// are not small wait before they are read.
func TestQuestionsWaitForTheirTurn(t *testing.T) {
	inside, release := make(chan struct{}, 100), make(chan struct{})
	w := startWebhook(t, func(*networkingv1.Ingress) Verdict {
		inside <- struct{}{}
		<-release
		return Verdict{}
	})
	const asked = 3 * mostChecked
	answered := make(chan int, asked)
	for i := range asked {
		body := question(ingressKind, fmt.Sprintf(`{"metadata":{"name":"i%d"}}`, i))
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
		t.Errorf("more than %d are checked at once", mostChecked)
	case code := <-answered:
		t.Errorf("one was answered with %d", code)
	case <-time.After(50 * time.Millisecond): // long enough to fail at times if it is wrong, and never if it is right
	}
	close(release)
	for range asked {
		if code := <-answered; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	}
}

// The server gives up on a body that does not come.
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
		t.Errorf("status %d before the body, want 413", answer.StatusCode)
	}
}

// neverRead is a body that never comes.
type neverRead struct{ t *testing.T }

func (n neverRead) Read([]byte) (int, error) {
	<-n.t.Context().Done()
	return 0, io.EOF
}
