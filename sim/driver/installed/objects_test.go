package installed

import (
	"context"
	"errors"
	"maps"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/controllers"
)

// Objects of others are neither created, changed nor deleted.
func TestObjectsOfOthersAreNotTouched(t *testing.T) {
	s := newSite(t)
	s.options.CatchAll = true
	s.create(t, configMap("shop", "theirs", map[string]string{"key": "value"}))
	i := s.prepare(t)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "staging"}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/mine"}}
	another := *class
	another.Name = "elsewhere"
	for _, typed := range []runtime.Object{namespace("shop"), configMap("shop", "theirs", nil), configMap("shop", "new", nil), class, &another} {
		if _, err := i.Objects().Put(t.Context(), object(t, typed)); !errors.Is(err, cluster.ErrNotOurs) {
			t.Errorf("put %T: %v", typed, err)
		}
		if err := i.Objects().Delete(t.Context(), object(t, typed)); !errors.Is(err, cluster.ErrNotOurs) {
			t.Errorf("delete %T: %v", typed, err)
		}
	}
	if err := i.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	found, err := s.client.CoreV1().ConfigMaps("shop").Get(t.Context(), "theirs", metav1.GetOptions{})
	if err != nil || found.Data["key"] != "value" || len(found.Labels) > 0 {
		t.Errorf("the ConfigMap of others is %+v, %v", found, err)
	}
	theirs, err := s.client.NetworkingV1().IngressClasses().Get(t.Context(), "staging", metav1.GetOptions{})
	if err != nil || theirs.Spec.Controller != "k8s.io/ingress-nginx" {
		t.Errorf("the IngressClass of others is %+v, %v", theirs, err)
	}
}

func TestObjectsHaveTheLabelOfTheRun(t *testing.T) {
	s := newSite(t)
	i := s.prepare(t)
	for _, typed := range []runtime.Object{namespace("a-case"), configMap("a-case", "one", nil), configMap("a-case", "one", map[string]string{"key": "new"})} {
		if _, err := i.Objects().Put(t.Context(), object(t, typed)); err != nil {
			t.Fatal(err)
		}
	}
	made, err := s.client.CoreV1().Namespaces().Get(t.Context(), "a-case", metav1.GetOptions{})
	if err != nil || made.Labels[RunLabel] != i.run || made.Labels[cluster.MadeByLabel] != cluster.MadeBy {
		t.Errorf("%+v, %v", made, err)
	}
	one, err := s.client.CoreV1().ConfigMaps("a-case").Get(t.Context(), "one", metav1.GetOptions{})
	if err != nil || one.Labels[RunLabel] != i.run || one.Data["key"] != "new" {
		t.Errorf("%+v, %v", one, err)
	}
}

// A namespace that the run has deleted is created again when it is gone.
func TestNamespacesAreCreatedAgain(t *testing.T) {
	s := newSiteWith(t, kubeapi.Options{NamespaceController: true})
	i := s.prepare(t)
	put := func() types.UID {
		t.Helper()
		if _, err := i.Objects().Put(t.Context(), object(t, namespace("a-case"))); err != nil {
			t.Fatal(err)
		}
		made, err := s.client.CoreV1().Namespaces().Get(t.Context(), "a-case", metav1.GetOptions{})
		if err != nil || made.DeletionTimestamp != nil {
			t.Fatalf("%+v, %v", made, err)
		}
		return made.UID
	}
	first := put()
	if err := i.Objects().Delete(t.Context(), object(t, namespace("a-case"))); err != nil {
		t.Fatal(err)
	}
	if ending, err := s.client.CoreV1().Namespaces().Get(t.Context(), "a-case", metav1.GetOptions{}); err != nil || ending.DeletionTimestamp == nil {
		t.Fatalf("the namespace does not end slowly: %+v, %v", ending, err)
	}
	running, err := controllers.Start(t.Context(), s.api.Config(), controllers.Options{}, "namespace")
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	if second := put(); second == first {
		t.Error("the namespace is still the first one")
	}
	if err := i.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// Hosts of others are not taken if the controller may serve their ingresses.
func TestHostsOfOthersAreNotTaken(t *testing.T) {
	s := newSite(t)
	ofSecond, ofOther := ingress("shop", "second", "second.test"), ingress("shop", "other", "other.test")
	ofSecond.Spec.IngressClassName, ofOther.Spec.IngressClassName = new("second"), new("elsewhere")
	unclassed := ingress("shop", "unclassed", "unclassed.test")
	unclassed.Spec.IngressClassName = nil
	s.create(t, ingress("shop", "web", "shop.test", "*.wild.test"), ofSecond, ofOther, unclassed)
	withAlias := ingress("a-case", "web", "alias.example")
	withAlias.Annotations["nginx.ingress.kubernetes.io/server-alias"] = "b.example, Shop.test"
	redirecting := ingress("a-case", "web", "www.shop.test")
	redirecting.Annotations["nginx.ingress.kubernetes.io/from-to-www-redirect"] = "true"
	i := s.prepare(t)
	if _, err := i.Objects().Put(t.Context(), object(t, namespace("a-case"))); err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		ingress *networkingv1.Ingress
		refused bool
	}{
		"the same host":             {ingress("a-case", "web", "shop.test"), true},
		"in capitals":               {ingress("a-case", "web", "x.example", "unclassed.test"), true},
		"below a wildcard":          {ingress("a-case", "web", "a.wild.test"), true},
		"a wildcard above":          {ingress("a-case", "web", "*.test"), true},
		"an alias":                  {withAlias, true},
		"a redirect":                {redirecting, true},
		"of another class":          {ingress("a-case", "web", "second.test"), true},
		"of another controller":     {ingress("a-case", "web", "other.test"), false},
		"a host that nobody has":    {ingress("a-case", "web", "free.example"), false},
		"the end of another's name": {ingress("a-case", "web", "op.test"), false},
	} {
		_, err := i.Objects().Put(t.Context(), object(t, test.ingress))
		if errors.Is(err, cluster.ErrNotOurs) != test.refused || err != nil && !test.refused {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An object of a cluster-wide kind stays that of others, even if its manifest names a namespace of the
// run: the API server ignores the namespace.
func TestNamespacesOfClusterWideObjectsDoNotCount(t *testing.T) {
	s := newSite(t)
	s.options.CatchAll = true
	i := s.prepare(t)
	class := &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.Namespace(), Name: "staging"},
		Spec:       networkingv1.IngressClassSpec{Controller: "example.com/mine"},
	}
	if _, err := i.Objects().Put(t.Context(), object(t, class)); !errors.Is(err, cluster.ErrNotOurs) {
		t.Errorf("put: %v", err)
	}
	if err := i.Objects().Delete(t.Context(), object(t, class)); !errors.Is(err, cluster.ErrNotOurs) {
		t.Errorf("delete: %v", err)
	}
	theirs, err := s.client.NetworkingV1().IngressClasses().Get(t.Context(), "staging", metav1.GetOptions{})
	if err != nil || theirs.Spec.Controller != "k8s.io/ingress-nginx" {
		t.Errorf("the IngressClass of others is %+v, %v", theirs, err)
	}
}

// A controller serves ingresses whose annotation has the value of its flag --ingress-class, whatever
// the name of its IngressClass.
func TestHostsOfAnnotatedIngressesAreNotTaken(t *testing.T) {
	for flag, annotation := range map[string]string{"": "nginx", "edge": "edge"} {
		s := newSite(t)
		if flag != "" {
			s.options.Flags = map[string]string{"ingress-class": flag}
		}
		annotated, ofOther := ingress("shop", "annotated", "annotated.test"), ingress("shop", "other", "other.test")
		for made, class := range map[*networkingv1.Ingress]string{annotated: annotation, ofOther: "elsewhere"} {
			made.Spec.IngressClassName = nil
			made.Annotations["kubernetes.io/ingress.class"] = class
		}
		s.create(t, annotated, ofOther)
		i := s.prepare(t)
		if _, err := i.Objects().Put(t.Context(), object(t, namespace("a-case"))); err != nil {
			t.Fatal(err)
		}
		if _, err := i.Objects().Put(t.Context(), object(t, ingress("a-case", "web", "annotated.test"))); !errors.Is(err, cluster.ErrNotOurs) {
			t.Errorf("--ingress-class=%s, annotation %s: %v", flag, annotation, err)
		}
		if _, err := i.Objects().Put(t.Context(), object(t, ingress("a-case", "web", "other.test"))); err != nil {
			t.Error(err)
		}
	}
}

// settingsOf begins a run that may change a ConfigMap.
func settingsOf(t *testing.T, s *site, data map[string]string) *instance {
	t.Helper()
	s.create(t, configMap("shop", "config", data))
	s.options.ConfigMap = types.NamespacedName{Namespace: "shop", Name: "config"}
	return s.prepare(t)
}

func (s *site) data(t *testing.T) map[string]string {
	t.Helper()
	found, err := s.client.CoreV1().ConfigMaps("shop").Get(context.Background(), "config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Data
}

func TestConfigMapIsRestored(t *testing.T) {
	for what, data := range map[string]map[string]string{
		"with keys": {"use-gzip": "true", "keep-alive": "10"}, "without keys": {}, "without data": nil,
	} {
		s := newSite(t)
		i := settingsOf(t, s, data)
		for _, wanted := range []map[string]string{
			{"use-gzip": "false", "server-tokens": "true"}, {"keep-alive": "10"}, {"keep-alive": "20"},
		} {
			if _, err := i.Objects().Put(t.Context(), object(t, configMap("shop", "config", wanted))); err != nil {
				t.Fatal(err)
			}
			if got := s.data(t); !maps.Equal(got, wanted) {
				t.Errorf("%s: %v was written as %v", what, wanted, got)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := i.Stop(ended); err != nil {
			t.Error(err)
		}
		if got := s.data(t); !maps.Equal(got, data) || (got == nil) != (data == nil) && len(data) > 0 {
			t.Errorf("%s: the ConfigMap has %v, want %v", what, got, data)
		}
	}
}

// What others change in the ConfigMap during the run is kept, unless the run has changed the key as
// well.
func TestChangesOfOthersAreKept(t *testing.T) {
	s := newSite(t)
	i := settingsOf(t, s, map[string]string{"use-gzip": "true", "keep-alive": "10"})
	put := func(data map[string]string) {
		t.Helper()
		if _, err := i.Objects().Put(t.Context(), object(t, configMap("shop", "config", data))); err != nil {
			t.Fatal(err)
		}
	}
	put(map[string]string{"use-gzip": "false", "keep-alive": "10"})
	found, err := s.client.CoreV1().ConfigMaps("shop").Get(t.Context(), "config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found.Data["keep-alive"], found.Data["new"], found.Labels = "99", "theirs", map[string]string{"their": "label"}
	if _, err := s.client.CoreV1().ConfigMaps("shop").Update(t.Context(), found, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	put(map[string]string{"use-gzip": "false", "keep-alive": "10", "server-tokens": "true"})
	if err := i.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := s.data(t), map[string]string{"use-gzip": "true", "keep-alive": "99", "new": "theirs"}; !maps.Equal(got, want) {
		t.Errorf("the ConfigMap has %v, want %v", got, want)
	}
}

// Without permission, the controller's ConfigMap is that of others.
func TestConfigMapNeedsPermission(t *testing.T) {
	s := newSite(t)
	s.create(t, configMap("shop", "config", nil))
	i := s.prepare(t)
	if _, err := i.Objects().Put(t.Context(), object(t, configMap("shop", "config", nil))); !errors.Is(err, cluster.ErrNotOurs) {
		t.Error(err)
	}
	s.options.ConfigMap = types.NamespacedName{Namespace: "shop", Name: "none"}
	_, err := s.open(t).newObjects(t.Context(), "run", "home")
	mustFail(t, err, "there is no ConfigMap shop/none")
}
