package live

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/scenario"
)

// rig is an API server and a plan for it.
type rig struct {
	api    *kubeapi.Server
	client kubernetes.Interface
	Options
}

func newRig(t *testing.T, change func(*Spec)) *rig {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	s := Spec{
		Population: corpus.Shape{Namespace: "gale", Services: 4, Pods: 3, Ingresses: 4, Seed: 7, Class: "test"},
		Kinds:      Kinds, Rate: 20, For: 300 * time.Millisecond,
	}
	if change != nil {
		change(&s)
	}
	plan, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{api: api, client: kubernetes.NewForConfigOrDie(api.Config()), Options: Options{Config: api.Config(), Plan: plan}}
}

// objects returns the labels of the objects in the namespace, by kind and name.
func (r *rig) objects(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	generic := dynamic.NewForConfigOrDie(r.api.Config())
	i := inventory{}
	for _, one := range resources {
		i.add(one.kind, "")
	}
	err := i.each(t.Context(), generic, "gale", "", func(kind string, found *unstructured.Unstructured, _ dynamic.ResourceInterface) error {
		all[kind+" "+found.GetName()] = found.GetLabels()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *rig) namespace(t *testing.T) *corev1.Namespace {
	t.Helper()
	found, err := r.client.CoreV1().Namespaces().Get(t.Context(), "gale", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (r *rig) makeNamespace(t *testing.T, labels map[string]string) *corev1.Namespace {
	t.Helper()
	found, err := r.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gale", Labels: labels}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestChurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	began := ""
	r.Began = func(run string) {
		began = run
		found := r.namespace(t)
		if diff := cmp.Diff(labels(run), map[string]string{MadeByLabel: found.Labels[MadeByLabel], RunLabel: found.Labels[RunLabel]}); diff != "" {
			t.Errorf("the namespace's labels (-want +got):\n%s", diff)
		}
		objects := r.objects(t)
		for _, want := range []string{"Service svc-000", "Ingress svc-003", "Secret svc-003-tls"} {
			if objects[want] == nil {
				t.Errorf("%s is missing in %v", want, objects)
			}
		}
		for object, labels := range objects {
			if labels[RunLabel] != run || labels[MadeByLabel] != MadeBy {
				t.Errorf("%s has the labels %v", object, labels)
			}
		}
	}
	result, err := Churn(t.Context(), r.Options)
	if err != nil {
		t.Fatal(err)
	}
	const changes = 5 * 6 // kinds, each 20/s for 0.3 s
	if result.Run != began || result.Writes != changes || result.Errors != 0 || result.Max == 0 || result.P50 > result.Max {
		t.Errorf("got %+v", result)
	}
	if found := r.namespace(t); found != nil {
		t.Errorf("objects remain: %+v", found)
	}
	var file bytes.Buffer
	if err := churn.Write(&file, result.Recording); err != nil {
		t.Fatal(err)
	}
	recording, err := churn.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if len(recording.Changes) != changes-6 || recording.Left["certificates renewed"] != 6 || recording.Population.Namespace != "recorded" || recording.Population.Class != "" {
		t.Errorf("%d changes, left out %v, of %s", len(recording.Changes), recording.Left, recording.Population.Namespace)
	}
}

// Objects that churn updates keep their labels and their class.
func TestLabelsAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Keep = true
	result, err := Churn(t.Context(), r.Options)
	if err != nil {
		t.Fatal(err)
	}
	objects := r.objects(t)
	if len(objects) < 4*4 {
		t.Errorf("only these objects remain: %v", objects)
	}
	for object, labels := range objects {
		if labels[RunLabel] != result.Run {
			t.Errorf("%s has the labels %v", object, labels)
		}
	}
	ingresses, err := r.client.NetworkingV1().Ingresses("gale").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(ingresses.Items) != 4+6 {
		t.Fatalf("%d ingresses, %v", len(ingresses.Items), err)
	}
	for _, i := range ingresses.Items {
		if *i.Spec.IngressClassName != "test" {
			t.Errorf("ingress %s is of class %s", i.Name, *i.Spec.IngressClassName)
		}
	}
}

// A namespace of another owner is not changed, whatever its labels.
func TestExistingNamespaceIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		labels map[string]string
		touch  string
		want   string
	}{
		"no labels":                 {nil, "", "windtunnel did not create it; choose one that does not exist, or pass --yes-touch gale"},
		"another's label":           {map[string]string{MadeByLabel: "helm"}, "", "windtunnel did not create it"},
		"without a run":             {map[string]string{MadeByLabel: MadeBy}, "", "windtunnel did not create it"},
		"of another run":            {labels("abcdefgh"), "", "created by another run, abcdefgh; choose another, or when that run is over: kubectl delete namespace gale"},
		"a run, but not ours":       {map[string]string{RunLabel: "abcdefgh"}, "", "windtunnel did not create it"},
		"touch names another":       {nil, "storm", "--namespace is gale and --yes-touch is storm"},
		"ours, touch names another": {labels("abcdefgh"), "gale2", "--namespace is gale and --yes-touch is gale2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			before := r.makeNamespace(t, test.labels)
			r.Touch = test.touch
			for what, do := range map[string]func() error{
				"DryRun": func() error { _, err := DryRun(t.Context(), r.Options); return err },
				"Churn":  func() error { _, err := Churn(t.Context(), r.Options); return err },
			} {
				if err := do(); !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: got %v", what, err)
				}
			}
			if diff := cmp.Diff(before, r.namespace(t)); diff != "" {
				t.Errorf("the namespace (-before +after):\n%s", diff)
			}
			if objects := r.objects(t); len(objects) > 0 {
				t.Errorf("it created objects: %v", objects)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	found := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gale", UID: "1", Labels: labels("me")}}
	if g, err := checkNamespace(found, "", "me"); err != nil || !g.own {
		t.Errorf("this run's own: %+v, %v", g, err)
	}
	found.DeletionTimestamp = new(metav1.Now())
	for _, touch := range []string{"", "gale"} {
		if _, err := checkNamespace(found, touch, "me"); !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), "is being deleted") {
			t.Errorf("one that is being deleted: %v", err)
		}
	}
}

// A namespace that somebody else creates between our check and our claim is not used.
func TestNamespaceCreatedBySomebodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	g, err := findNamespace(t.Context(), r.client, "gale", "", "me")
	if err != nil {
		t.Fatal(err)
	}
	before := r.makeNamespace(t, nil)
	if err := g.claim(t.Context(), r.client, "me"); !errors.Is(err, ErrNotOurs) {
		t.Errorf("got %v, want an error: the namespace is not ours", err)
	}
	if diff := cmp.Diff(before, r.namespace(t)); diff != "" {
		t.Errorf("the namespace (-before +after):\n%s", diff)
	}
}

func TestNamedNamespaceIsUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	before := r.makeNamespace(t, map[string]string{"team": "shop"})
	other := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := r.client.CoreV1().Services("gale").Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	during := 0
	r.Began = func(string) { during = len(r.objects(t)) }
	r.Touch = "gale"
	if _, err := Churn(t.Context(), r.Options); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, r.namespace(t)); diff != "" {
		t.Errorf("the namespace (-before +after):\n%s", diff)
	}
	if objects := r.objects(t); during < 4*4 || len(objects) != 1 || objects["Service other"] == nil && !slices.Contains(keys(objects), "Service other") {
		t.Errorf("of %d objects, these remain: %v", during, objects)
	}
}

func keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

// In a namespace that it did not create, churn overwrites nothing, neither for the population nor
// for later changes.
func TestExistingObjectsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	for name, labels := range map[string]map[string]string{"svc-002": nil, "new-4.gale.example": nil, "svc-003": labels("abcdefgh")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.makeNamespace(t, nil)
			r.Touch = "gale"
			theirs := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: networkingv1.IngressSpec{
				DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "theirs", Port: networkingv1.ServiceBackendPort{Number: 80}}},
			}}
			before, err := r.client.NetworkingV1().Ingresses("gale").Create(t.Context(), theirs, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := "Ingress gale/" + name + " exists and would be overwritten"
			if labels != nil {
				want = "was left by run abcdefgh: kubectl -n gale delete"
			}
			if _, err := Churn(t.Context(), r.Options); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			after, err := r.client.NetworkingV1().Ingresses("gale").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after); diff != "" || len(r.objects(t)) != 1 {
				t.Errorf("the ingress (-before +after):\n%s\nall objects: %v", diff, r.objects(t))
			}
		})
	}
}

// After an interrupt at any point, no objects remain, and the result covers the finished changes.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]string{"its own": "", "to be touched": "gale"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *Spec) { s.For = time.Hour })
			if touch != "" {
				r.makeNamespace(t, nil)
			}
			r.Touch = touch
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			r.Progress = func(_ time.Duration, tally Tally) {
				if tally.Writes >= 5 {
					interrupt()
				}
			}
			result, err := Churn(ctx, r.Options)
			if err != nil {
				t.Fatal(err)
			}
			if result.Writes < 5 || len(result.Recording.Changes) == 0 || result.Recording.Length > time.Minute {
				t.Errorf("got %+v", result.Tally)
			}
			if err := churn.Write(&bytes.Buffer{}, result.Recording); err != nil {
				t.Error(err)
			}
			if found := r.namespace(t); (found != nil) != (touch != "") || len(r.objects(t)) > 0 {
				t.Errorf("namespace %+v remains, with %v", found, r.objects(t))
			}
		})
	}
}

// An object is also removed if its creation is in flight to the API server during the interrupt.
func TestInterruptedWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.makeNamespace(t, nil)
	r.Touch = "gale"
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	const late = 200 * time.Millisecond // the API server writes the object this long after the interrupt
	written := make(chan struct{})
	r.inject(t, "ingresses", fault.Fault{Name: "interrupt", Serve: func(_ *fault.Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		interrupt()
		<-time.After(late)
		defer close(written)
		serve(w)
		return nil
	}}, "create", 0, 1)
	if _, err := Churn(ctx, r.Options); err != nil {
		t.Error(err)
	}
	<-written
	if objects := r.objects(t); len(objects) > 0 {
		t.Errorf("%v remain", objects)
	}
}

// A namespace that somebody else deletes and recreates is not removed.
func TestRecreatedNamespaceIsNotRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var theirs *corev1.Namespace
	r.Began = func(string) {
		if err := r.client.CoreV1().Namespaces().Delete(t.Context(), "gale", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		theirs = r.makeNamespace(t, nil)
	}
	if _, err := Churn(t.Context(), r.Options); err == nil {
		t.Error("no error for a namespace that cannot be removed")
	}
	if found := r.namespace(t); found == nil || found.UID != theirs.UID {
		t.Errorf("the namespace is %+v", found)
	}
}

// inject makes API calls with a verb on a resource fail.
func (r *rig) inject(t *testing.T, resource string, f fault.Fault, verb string, skip, count int) {
	t.Helper()
	if _, err := r.api.Inject(f, fault.Scope{Resources: []string{resource}, Verbs: []string{verb}, Skip: skip, Count: count}); err != nil {
		t.Fatal(err)
	}
}

// An interrupt before the run begins is not an error, and no objects remain.
func TestInterruptedBeforeItBegins(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"get", "create"} {
		r := newRig(t, nil)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		r.inject(t, "namespaces", fault.Fault{Name: "interrupt", Serve: func(c *fault.Call, _ http.ResponseWriter, serve func(http.ResponseWriter)) error {
			serve(httptest.NewRecorder())
			interrupt()
			c.Wait(-1) // until the client has gone away
			return nil
		}}, verb, 0, 1)
		if result, err := Churn(ctx, r.Options); err != nil || result.Run != "" {
			t.Errorf("%s: %+v, %v", verb, result.Tally, err)
		}
		if found := r.namespace(t); found != nil {
			t.Errorf("%s: %+v remains", verb, found)
		}
	}
}

// The namespace is removed even if the answer to its creation is lost and the next get fails.
func TestLostResponseLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.inject(t, "namespaces", fault.LostAcknowledgement(), "create", 0, 1)
	r.inject(t, "namespaces", fault.ServerError(500, 0), "get", 1, 1)
	if _, err := Churn(t.Context(), r.Options); err == nil || !strings.Contains(err.Error(), "create namespace gale") {
		t.Errorf("got %v", err)
	}
	if found := r.namespace(t); found != nil {
		t.Errorf("objects remain: %+v", found)
	}
}

// The error names a namespace that may remain, and how to check for it and remove it.
func TestErrorNamesWhatMayRemain(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.inject(t, "namespaces", fault.LostAcknowledgement(), "create", 0, 1)
	r.inject(t, "namespaces", fault.Forbidden(), "get", 1, 0)
	_, err := Churn(t.Context(), r.Options)
	for _, want := range []string{"namespace gale may have been created", "kubectl get namespace -l windtunnel.dev/run=", "kubectl delete namespace gale"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A single API failure does not leave an object behind in a namespace that is not the run's own.
func TestObjectsAreRemovedDespiteAFailure(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"delete", "list"} {
		r := newRig(t, nil)
		r.makeNamespace(t, nil)
		r.Touch = "gale"
		r.Began = func(string) { r.inject(t, "services", fault.ServerError(500, 0), verb, 0, 1) }
		if _, err := Churn(t.Context(), r.Options); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		if objects := r.objects(t); len(objects) > 0 {
			t.Errorf("%s: %v remain", verb, objects)
		}
	}
}

// A single API failure does not leave the namespace behind.
func TestNamespaceIsRemovedDespiteAFailure(t *testing.T) {
	t.Parallel()
	for _, f := range []fault.Fault{fault.ServerError(500, 0), fault.ServerError(503, 0), fault.BadGateway()} {
		for _, verb := range []string{"delete", "get"} {
			r := newRig(t, nil)
			r.Began = func(string) { r.inject(t, "namespaces", f, verb, 0, 1) }
			if _, err := Churn(t.Context(), r.Options); err != nil {
				t.Errorf("%s at %s: %v", f.Name, verb, err)
			}
			if found := r.namespace(t); found != nil {
				t.Errorf("%s at %s: %+v remains", f.Name, verb, found)
			}
		}
	}
}

// Pods may report problems while the result is read.
func TestCounterIsReadWhileItIsWritten(t *testing.T) {
	t.Parallel()
	for what, read := range map[string]func(*counter){
		"trouble": func(c *counter) { c.trouble() },
		"counts":  func(c *counter) { c.counts() },
	} {
		c := newCounter(1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.observe(event.Event{Change: &event.Change{ID: 1}})
			c.observe(event.Event{Change: &event.Change{ID: 2}})
			c.observe(event.Event{Trouble: &event.Trouble{What: "pod gale/a", Detail: "is gone"}})
		}()
		read(c) // for the race detector
		<-ended
		if counts := c.counts(); counts != (changeCounts{made: 1, certificates: 1}) || c.trouble() != "pod gale/a: is gone" {
			t.Errorf("%s: %+v, %q", what, counts, c.trouble())
		}
	}
}

func TestRefusedWritesAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Began = func(string) {
		_, err := r.api.Inject(fault.Fault{Name: "no", Serve: func(c *fault.Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
			if c.Verb == "update" {
				return apierrors.NewForbidden(c.GroupResource(), c.Name, errors.New("not today"))
			}
			serve(w)
			return nil
		}}, fault.Scope{})
		if err != nil {
			t.Error(err)
		}
	}
	result, err := Churn(t.Context(), r.Options)
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors == 0 || result.Errors > result.Writes || !strings.Contains(result.LastError, "not today") {
		t.Errorf("got %+v", result.Tally)
	}
	refused := 0
	for what, n := range result.Recording.Left {
		if strings.HasPrefix(what, "refusals of changes") {
			refused = n
		}
	}
	if refused == 0 || refused > result.Errors {
		t.Errorf("the recording left out %v, with %d refused writes", result.Recording.Left, result.Errors)
	}
	if r.namespace(t) != nil {
		t.Error("the namespace remains")
	}
}

func TestInvalidShapes(t *testing.T) {
	t.Parallel()
	whole := Spec{Population: corpus.Shape{Namespace: "gale", Services: 1, Pods: 1, Ingresses: 1}, Kinds: Kinds, Rate: 1, For: time.Second}
	for want, change := range map[string]func(*Spec){
		"--kind is []: it must name some of [rolling-update ":                          func(s *Spec) { s.Kinds = nil },
		"--kind is [touch touch]: it must name each kind once":                         func(s *Spec) { s.Kinds = []string{"touch", "touch"} },
		`there is no kind of churn "storm"`:                                            func(s *Spec) { s.Kinds = []string{"storm"} },
		"--rate is 0: it must be a number above 0":                                     func(s *Spec) { s.Rate = 0 },
		"--rate is NaN: it must be a number above 0":                                   func(s *Spec) { s.Rate = math.NaN() },
		"--rate is +Inf: it must be a number above 0":                                  func(s *Spec) { s.Rate = math.Inf(1) },
		"--for is 0s: it must be above 0s":                                             func(s *Spec) { s.For = 0 },
		"--for is 1s: it must be 5s or more for a change at --rate 0.1":                func(s *Spec) { s.Rate = 0.1 },
		"--for is 1s: it must be 1.667s or more for a change at --rate 0.3":            func(s *Spec) { s.Rate = 0.3 },
		"--drain is -1s: it must be 0s or more":                                        func(s *Spec) { s.Drain = -time.Second },
		"--services is 0: it must be 1 or more":                                        func(s *Spec) { s.Population.Services = 0 },
		"--pods is 0: it must be 1 or more":                                            func(s *Spec) { s.Population.Pods = 0 },
		"--ingresses is -1: it must be 0 or more":                                      func(s *Spec) { s.Population.Ingresses = -1 },
		"--ingresses is 0: it must be 1 or more for a " + scenario.CertificateRotation: func(s *Spec) { s.Population.Ingresses = 0 },
	} {
		s := whole
		change(&s)
		if _, err := NewPlan(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	for rate, length := range map[float64]time.Duration{0.1: 5 * time.Second, 0.3: 1667 * time.Millisecond} {
		s := whole
		s.Kinds, s.Rate, s.For = []string{scenario.Touch}, rate, length
		if plan, err := NewPlan(s); err != nil || len(plan.Stream.Changes) != 1 {
			t.Errorf("%g for %v, as the error requires: %v", rate, length, err)
		}
	}
}

// Addresses are reused after all have been used, but two pods never share one.
func TestAddresses(t *testing.T) {
	t.Parallel()
	a := newAddresses()
	first, err := a.Start("gale/a", "gale/web")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1<<17 + 5 {
		p, err := a.Start("gale/b", "gale/web")
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		if at := p.Addr().Addr(); at == first.Addr().Addr() || !nowhere.Contains(at) {
			t.Fatalf("pod %d is at %v", i, at)
		}
		p.Gone()
	}
}
