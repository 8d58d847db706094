package watch

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// judged returns an ingress with an annotation that the check of these tests reads.
func judged(name, verdict string) *networkingv1.Ingress {
	i := ingress(name, "nginx")
	i.Annotations = map[string]string{"verdict": verdict}
	return i
}

func TestRefusedVersionIsAcceptedWhenTheConfigMapAllowsIt(t *testing.T) {
	var lenient atomic.Bool
	options := standard()
	options.DisableSyncEvents = true
	options.Accept = func(ingress *networkingv1.Ingress) (string, error) {
		switch verdict := ingress.Annotations["verdict"]; {
		case verdict == "risky" && !lenient.Load():
			return "", errors.New("too risky")
		case verdict == "denied":
			return "no such Secret", nil
		}
		return "", nil
	}
	c := followed(t, options, judged("web", "good"), judged("new", "risky"))
	ingresses := c.NetworkingV1().Ingresses("demo")
	verdicts := func() string {
		var all []string
		for _, i := range c.store.Ingresses() {
			all = append(all, i.Name+" "+i.Annotations["verdict"])
		}
		for _, f := range c.store.Rejected() {
			all = append(all, f.Ingress.Name+" rejected: "+f.Reason)
		}
		return strings.Join(all, ", ")
	}
	event := func(want string) {
		t.Helper()
		if got := <-c.events.Events; got != want {
			t.Errorf("recorded %q, want %q", got, want)
		}
	}
	for range 2 { // in the order of the list
		<-c.changes
	}
	event("Warning Rejected too risky")
	c.must(ingresses.Update(t.Context(), judged("web", "risky"), update))
	c.next("update Ingress demo/web")
	event("Warning Rejected too risky")
	if got, want := verdicts(), "web good, new rejected: too risky, web rejected: too risky"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	lenient.Store(true)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "controller"}}
	c.must(c.CoreV1().ConfigMaps("system").Create(t.Context(), config, create))
	c.next("create ConfigMap system/controller")
	event("Normal CREATE ConfigMap system/controller")
	if got := verdicts(); got != "web risky, new risky" && got != "new risky, web risky" {
		t.Errorf("got %s, want both risky", got)
	}

	c.must(ingresses.Update(t.Context(), judged("web", "denied"), update))
	c.next("update Ingress demo/web")
	event("Warning AnnotationParsingFailed no such Secret")
	lenient.Store(false)
	c.must(ingresses.Update(t.Context(), judged("new", "risky "), update))
	c.next("update Ingress demo/new")
	c.must(nil, ingresses.Delete(t.Context(), "web", remove))
	c.next("delete Ingress demo/web")
	if got, want := verdicts(), "new risky "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.store.Snapshot(), snapshot.Take(c.store); !slices.Equal(got.Ingresses, want.Ingresses) || !maps.Equal(got.ConfigMaps, want.ConfigMaps) {
		t.Errorf("the ledger contains %v, the store %v", got, want)
	}
}

// A rejected ingress also gets the Event "Sync", unless --deep-inspect rejects it.
func TestEventsOfIngresses(t *testing.T) {
	options := standard()
	options.DeepInspect = true
	options.Accept = func(ingress *networkingv1.Ingress) (string, error) {
		switch ingress.Annotations["verdict"] {
		case "risky":
			return "", errors.New("too risky")
		case "denied":
			return "no such Secret", nil
		}
		return "", nil
	}
	c := followed(t, options)
	const sync = "Normal Sync Scheduled for sync"
	inspected := judged("inspected", "good")
	inspected.Spec.Rules = []networkingv1.IngressRule{{Host: "a_by_lua_block"}}
	for _, test := range []struct {
		ingress *networkingv1.Ingress
		want    []string
	}{
		{inspected, []string{`Warning Rejected spec.rules[0].host contains "_by_lua", which --deep-inspect forbids`}},
		{judged("risky", "risky"), []string{sync, "Warning Rejected too risky"}},
		{judged("denied", "denied"), []string{sync, "Warning AnnotationParsingFailed no such Secret"}},
		{judged("good", "good"), []string{sync}},
	} {
		c.must(c.NetworkingV1().Ingresses("demo").Create(t.Context(), test.ingress, create))
		c.next("create Ingress demo/" + test.ingress.Name) // after the Events
		var got []string
		for len(c.events.Events) > 0 {
			got = append(got, <-c.events.Events)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: recorded %q, want %q", test.ingress.Name, got, test.want)
		}
	}
}

// TestConfigMapChangesWhileAnIngressIsJudged changes the ConfigMap between the verdict on an ingress
// and its rejection.
func TestConfigMapChangesWhileAnIngressIsJudged(t *testing.T) {
	var lenient atomic.Bool
	judging, decide := make(chan struct{}), make(chan struct{})
	options := standard()
	options.DisableSyncEvents = true
	options.Accept = func(*networkingv1.Ingress) (string, error) {
		if lenient.Load() {
			return "", nil
		}
		close(judging)
		<-decide
		return "", errors.New("too risky")
	}
	c := followed(t, options)
	c.must(c.NetworkingV1().Ingresses("demo").Create(t.Context(), ingress("web", "nginx"), create))
	<-judging
	lenient.Store(true)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "controller"}}
	c.must(c.CoreV1().ConfigMaps("system").Create(t.Context(), config, create))
	if got, want := <-c.events.Events, "Normal CREATE ConfigMap system/controller"; got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
	var changes []string
	select {
	case change := <-c.changes: // the handler of the ConfigMap did not wait for the verdict
		changes = append(changes, change)
	case <-time.After(50 * time.Millisecond):
	}
	close(decide)
	for len(changes) < 2 {
		changes = append(changes, <-c.changes)
	}
	if got, want := c.accepted(), []string{"demo/web"}; !slices.Equal(got, want) {
		t.Errorf("after %v, accepted %v, want %v; rejected %v", changes, got, want, c.store.Rejected())
	}
}

func TestChangesOfReadConfigMaps(t *testing.T) {
	options := standard()
	options.Reads = func(name types.NamespacedName) bool { return name.Name == "headers" }
	c := followed(t, options)
	configMaps := c.CoreV1().ConfigMaps("demo")
	config := func(name, value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name}, Data: map[string]string{"x": value}}
	}
	c.must(configMaps.Create(t.Context(), config("other", "1"), create))
	c.must(configMaps.Create(t.Context(), config("headers", "1"), create))
	c.next("create ConfigMap demo/headers")
	c.must(configMaps.Update(t.Context(), config("headers", "2"), update))
	c.next("update ConfigMap demo/headers")
	c.must(nil, configMaps.Delete(t.Context(), "headers", remove))
	c.next("delete ConfigMap demo/headers")
}
