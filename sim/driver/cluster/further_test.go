package cluster

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// watchFlags returns the flags that select namespaces in the arguments of a controller, and others that begin
// with more.
func watchFlags(t *testing.T, flags map[string]string, namespaces []string, more string) (all []string) {
	t.Helper()
	here := home{run: "abc"}
	i := &instance{
		driver: &Driver{}, home: here, names: newNames(here, namespaces),
		subject: subject.Subject{Controller: subject.Bundled, Flags: flags},
	}
	objects, err := i.controllerObjects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if d, is := object.(*appsv1.Deployment); is {
			for _, arg := range d.Spec.Template.Spec.Containers[0].Args {
				if strings.HasPrefix(arg, "--watch-namespace") || strings.HasPrefix(arg, more) {
					all = append(all, arg)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// A controller watches the namespaces of its run, or those among them that the scenario names.
func TestControllerWatchesItsNamespaces(t *testing.T) {
	const selector = "--watch-namespace-selector="
	for name, test := range map[string]struct {
		flags      map[string]string
		namespaces []string
		want       []string
	}{
		"one":     {nil, []string{"demo"}, []string{"--watch-namespace=windtunnel-run-abc"}},
		"several": {nil, []string{"demo", "shop"}, []string{selector + "windtunnel.dev/scenario-run=abc"}},
		"the scenario's one": {
			map[string]string{"watch-namespace": "demo"}, []string{"demo"}, []string{"--watch-namespace=windtunnel-run-abc"},
		},
		"the scenario's one of several": {
			map[string]string{"watch-namespace": "shop"}, []string{"demo", "shop"}, []string{"--watch-namespace=windtunnel-run-abc-shop"},
		},
		"the scenario's selector": {
			map[string]string{"watch-namespace-selector": "team=a"}, []string{"demo", "shop"}, []string{selector + "team=a,windtunnel.dev/scenario-run=abc"},
		},
		"names in flags": {
			map[string]string{"default-ssl-certificate": "shop/tls"}, []string{"demo", "shop"},
			[]string{"--default-ssl-certificate=windtunnel-run-abc-shop/tls", selector + "windtunnel.dev/scenario-run=abc"},
		},
	} {
		if got := watchFlags(t, test.flags, test.namespaces, "--default-ssl"); !slices.Equal(got, test.want) {
			t.Errorf("%s: the flags are %q, want %q", name, got, test.want)
		}
	}
}

// A run with several namespaces needs permissions that other runs do not; it asks for them before it creates
// anything, and says what its controller may read.
func TestSeveralNamespacesNeedMorePermissions(t *testing.T) {
	s := newSite(t)
	d := s.open(t, s.options())
	s.refuses = func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") }
	one, err := s.prepare(t, d)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(s.notices, ""); strings.Contains(text, "several namespaces") {
		t.Errorf("the user of one namespace is told %q", text)
	}
	s.end(t, one)
	of := subject.Subject{Name: "subject", Controller: subject.Bundled}
	if _, err := s.prepareIn(t, d, of, "demo", "shop"); err == nil || !strings.Contains(err.Error(), "several namespaces: ask the API server for the user's permissions") {
		t.Errorf("got %v, want the question about permissions", err)
	}
	s.checkEmpty(t)
	s.refuses = nil
	several, err := s.prepareIn(t, d, of, "demo", "shop")
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(s.notices, ""); !strings.Contains(text, "may read the Services, Secrets, ConfigMaps and ingresses of all namespaces") {
		t.Errorf("the user of several namespaces is told %q", text)
	}
	s.end(t, several)
}

// put writes an object.
func (s *site) put(t *testing.T, client *cluster.Client, text string) {
	t.Helper()
	if _, err := client.Put(t.Context(), parse(t, text)); err != nil {
		t.Fatal(err)
	}
}

// A scenario may delete its namespaces and create them again. The run removes what is there at its end.
func TestScenarioDeletesItsNamespace(t *testing.T) {
	s := newSite(t)
	i, err := s.prepareIn(t, s.open(t, s.options()), subject.Subject{Name: "subject", Controller: subject.Bundled}, "demo", "shop")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := cluster.New(i.API())
	if err != nil {
		t.Fatal(err)
	}
	client := driver.Routed(plain, i)
	shop := parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	if err := client.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, s, i.home.name()+"-shop")
	if _, err := client.Put(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	s.end(t, i)
}

// The namespaces beside the home of a killed run are found, also without the home. They are removed, but not
// a namespace that only has the label.
func TestLeftoversOfSeveralNamespaces(t *testing.T) {
	s := newSite(t)
	d := s.open(t, s.options())
	i, err := s.prepareIn(t, d, subject.Subject{Name: "subject", Controller: subject.Bundled}, "demo", "shop")
	if err != nil {
		t.Fatal(err)
	}
	i.home.endLease()
	left, err := d.leftovers(t.Context())
	if err != nil || len(left) != 1 || left[0].Run != i.home.run {
		t.Errorf("left are %+v, %v; want one run", left, err)
	}
	plain, err := cluster.New(i.API())
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, plain, "{apiVersion: v1, kind: Namespace, metadata: {name: precious, labels: {"+RunLabel+": "+i.home.run+"}}}")
	if err := s.client.CoreV1().Namespaces().Delete(t.Context(), i.home.name(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, s, i.home.name())
	left, err = d.leftovers(t.Context())
	if err != nil || len(left) != 1 || left[0].Run != i.home.run {
		t.Fatalf("left are %+v, %v; want one run", left, err)
	}
	if err := left[0].Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := s.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "precious" {
		t.Errorf("left are %v, %v; want the namespace of others", list.Items, err)
	}
}

// awaitGone returns when a namespace is gone.
func awaitGone(t *testing.T, s *site, name string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := s.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Fatalf("namespace %s: %v", name, err)
	}
}
