package watch

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

// cluster is a fake API server with a store that follows it.
type cluster struct {
	*testing.T
	*fake.Clientset
	store   *Store
	events  *record.FakeRecorder
	changes chan string
}

func standard() Options {
	return Options{
		IngressClass:    "nginx",
		ControllerClass: "k8s.io/ingress-nginx",
		ConfigMaps:      []types.NamespacedName{{Namespace: "system", Name: "controller"}},
		DeepInspect:     true,
	}
}

// followed returns a cluster whose store follows the objects and two classes: nginx, which is ours,
// and other, which is not.
func followed(t *testing.T, options Options, objects ...runtime.Object) *cluster {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	objects = append(objects, class("nginx", "k8s.io/ingress-nginx"), class("other", "example.com/other"))
	c := &cluster{
		T:         t,
		Clientset: fake.NewClientset(objects...),
		events:    record.NewFakeRecorder(100),
		changes:   make(chan string, 100),
	}
	watched := make(chan string, 20)
	c.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		stream, err := c.Tracker().Watch(action.GetResource(), action.GetNamespace())
		watched <- action.GetResource().Resource
		return true, stream, err
	})
	c.store = New(c.Clientset, options, c.events, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err := c.store.Start(ctx); err != nil {
		t.Fatal(err)
	}
	// The fake server loses events between a list and its watch, so wait for all watches.
	kinds := 6
	if c.store.namespaces != nil {
		kinds++
	}
	for range kinds {
		<-watched
	}
	go c.store.Changes().Each(func(change Change) { c.changes <- change.What })
	return c
}

// next checks the next change. An unexpected change of the same kind would arrive before it.
func (c *cluster) next(want string) {
	c.Helper()
	if got := <-c.changes; got != want {
		c.Fatalf("change %q, want %q", got, want)
	}
}

func (c *cluster) must(_ any, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) accepted() []string {
	var names []string
	for _, ingress := range c.store.Ingresses() {
		names = append(names, ingress.Namespace+"/"+ingress.Name)
	}
	slices.Sort(names)
	return names
}

func class(name, controller string) *networkingv1.IngressClass {
	return &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
}

func ingress(name, class string) *networkingv1.Ingress {
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name}}
	if class != "" {
		i.Spec.IngressClassName = &class
	}
	i.Spec.Rules = []networkingv1.IngressRule{{Host: name + ".example"}}
	return i
}

func annotated(name, class string) *networkingv1.Ingress {
	i := ingress(name, "")
	i.Annotations = map[string]string{ClassAnnotation: class}
	return i
}

var (
	create = metav1.CreateOptions{}
	update = metav1.UpdateOptions{}
	remove = metav1.DeleteOptions{}
)

func TestSelectedIngresses(t *testing.T) {
	catchAll := ingress("catch-all", "nginx")
	catchAll.Spec.DefaultBackend = &networkingv1.IngressBackend{}
	all := []runtime.Object{
		ingress("by-class", "nginx"),
		ingress("of-other-class", "other"),
		ingress("of-no-such-class", "none"),
		annotated("by-annotation", "nginx"),
		annotated("of-other-annotation", "other"),
		ingress("without-class", ""),
		ingress("suspicious", "nginx"),
		catchAll,
	}
	all[6].(*networkingv1.Ingress).Spec.Rules[0].Host = "x_by_lua"

	for name, test := range map[string]struct {
		change func(*Options)
		want   []string
	}{
		"standard":          {func(*Options) {}, []string{"demo/by-annotation", "demo/by-class", "demo/catch-all"}},
		"without class":     {func(o *Options) { o.WithoutClass = true }, []string{"demo/by-annotation", "demo/by-class", "demo/catch-all", "demo/without-class"}},
		"no catch-all":      {func(o *Options) { o.DisableCatchAll = true }, []string{"demo/by-annotation", "demo/by-class"}},
		"no inspection":     {func(o *Options) { o.DeepInspect = false }, []string{"demo/by-annotation", "demo/by-class", "demo/catch-all", "demo/suspicious"}},
		"other controller":  {func(o *Options) { o.ControllerClass = "example.com/other" }, []string{"demo/by-annotation", "demo/of-other-class"}},
		"class by name":     {func(o *Options) { o.ControllerClass, o.ClassByName = "x", true }, []string{"demo/by-annotation", "demo/by-class", "demo/catch-all"}},
		"another namespace": {func(o *Options) { o.Namespace = "elsewhere" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			options := standard()
			test.change(&options)
			if options.Namespace != "" {
				options.ConfigMaps[0].Namespace = options.Namespace // keeps the number of informers
			}
			if got := followed(t, options, all...).accepted(); !slices.Equal(got, test.want) {
				t.Errorf("accepted %q, want %q", got, test.want)
			}
		})
	}
}

func TestNamespaceSelector(t *testing.T) {
	options := standard()
	options.NamespaceSelector = labels.SelectorFromSet(labels.Set{"team": "a"})
	matching := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{"team": "a"}}}
	elsewhere := ingress("web", "nginx")
	elsewhere.Namespace = "elsewhere"
	c := followed(t, options, matching, ingress("web", "nginx"), elsewhere)
	if got, want := c.accepted(), []string{"demo/web"}; !slices.Equal(got, want) {
		t.Errorf("accepted %q, want %q", got, want)
	}
}

func TestIngressEvents(t *testing.T) {
	c := followed(t, standard())
	ingresses := c.NetworkingV1().Ingresses("demo")

	c.must(ingresses.Create(t.Context(), ingress("web", "nginx"), create))
	c.next("create Ingress demo/web")
	if got, want := <-c.events.Events, "Normal Sync Scheduled for sync"; got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
	c.must(ingresses.Create(t.Context(), ingress("foreign", "other"), create))
	rejected := ingress("web", "nginx")
	rejected.Spec.Rules[0].Host = "x_by_lua"
	c.must(ingresses.Update(t.Context(), rejected, update))
	c.next("update Ingress demo/web")
	changed := ingress("web", "nginx")
	changed.Spec.Rules[0].Host = "other.example"
	c.must(ingresses.Update(t.Context(), changed, update))
	c.next("update Ingress demo/web")

	c.must(ingresses.Update(t.Context(), ingress("foreign", "nginx"), update)) // now ours
	c.next("update Ingress demo/foreign")
	c.must(ingresses.Update(t.Context(), ingress("web", "other"), update)) // no longer ours
	c.next("update Ingress demo/web")
	if got, want := c.accepted(), []string{"demo/foreign"}; !slices.Equal(got, want) {
		t.Errorf("accepted %q, want %q", got, want)
	}
	c.must(nil, ingresses.Delete(t.Context(), "web", remove)) // was no longer ours
	c.must(nil, ingresses.Delete(t.Context(), "foreign", remove))
	c.next("delete Ingress demo/foreign")
	if got := c.accepted(); len(got) > 0 {
		t.Errorf("accepted %q, want none", got)
	}
}

func TestRefusedUpdateKeepsTheEarlierVersion(t *testing.T) {
	c := followed(t, standard(), ingress("web", "nginx"))
	ingresses := c.NetworkingV1().Ingresses("demo")
	rejected := ingress("web", "nginx")
	rejected.Spec.Rules[0].Host = "x_by_lua"
	c.must(ingresses.Update(t.Context(), rejected, update))
	c.must(ingresses.Create(t.Context(), ingress("later", "nginx"), create))
	c.next("create Ingress demo/web")
	c.next("update Ingress demo/web")
	c.next("create Ingress demo/later")
	for _, stored := range c.store.Ingresses() {
		if stored.Name == "web" && stored.Spec.Rules[0].Host != "web.example" {
			t.Errorf("host %q was stored", stored.Spec.Rules[0].Host)
		}
	}
}

// A deleted ingress leaves no earlier version to keep, even if another one gets its name while the
// informer does not watch and so sees an update.
func TestRefusedIngressWithTheNameOfADeletedOne(t *testing.T) {
	first := ingress("web", "nginx")
	first.UID = "first"
	c := followed(t, standard(), first)
	c.next("create Ingress demo/web")
	second := ingress("web", "nginx")
	second.UID = "second"
	second.Spec.Rules[0].Host = "x_by_lua"
	c.must(c.NetworkingV1().Ingresses("demo").Update(t.Context(), second, update))
	c.next("update Ingress demo/web")
	if got := c.store.Snapshot(); len(got.Ingresses) > 0 || len(got.Rejected) != 1 {
		t.Errorf("accepted %v, rejected %v; want only the second one, rejected", got.Ingresses, got.Rejected)
	}
}

// The store also follows Secrets that annotations, a flag and the ConfigMap name.
func TestSecretsNamedOutsideSpecTLS(t *testing.T) {
	named := ingress("web", "nginx")
	for _, key := range []string{"auth-secret", "auth-tls-secret", "proxy-ssl-secret"} {
		metav1.SetMetaDataAnnotation(&named.ObjectMeta, "nginx.ingress.kubernetes.io/"+key, "demo/"+key)
	}
	short := ingress("short", "nginx")
	metav1.SetMetaDataAnnotation(&short.ObjectMeta, "nginx.ingress.kubernetes.io/auth-secret", "short")
	options := standard()
	options.DefaultCertificate = types.NamespacedName{Namespace: "elsewhere", Name: "default"}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "controller"}, Data: map[string]string{"ssl-dh-param": "system/dh"}}
	c := followed(t, options, named, short, config)
	for range 3 { // the ConfigMap and the ingresses
		<-c.changes
	}
	for _, name := range []string{"demo/auth-secret", "demo/auth-tls-secret", "demo/proxy-ssl-secret", "demo/short", "elsewhere/default", "system/dh"} {
		namespace, short, _ := strings.Cut(name, "/")
		for _, object := range []*corev1.Secret{
			{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "not-" + short}},
			{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: short}},
		} {
			c.must(c.CoreV1().Secrets(namespace).Create(t.Context(), object, create))
		}
		c.next("create Secret " + name)
	}
}

func TestOwnConfigMapOutsideTheWatchedNamespace(t *testing.T) {
	options := standard()
	options.Namespace = "demo"
	own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "controller"}}
	c := followed(t, options, own)
	c.next("create ConfigMap system/controller")
	if got := c.store.ConfigMaps(); len(got) != 1 || got[0].Name != "controller" {
		t.Errorf("the store contains %d ConfigMaps, want the controller's own", len(got))
	}
}

func TestMissingConfigMapIsLogged(t *testing.T) {
	options := standard()
	options.ConfigMaps = []types.NamespacedName{{Namespace: "system", Name: "present"}, {Namespace: "system", Name: "missing"}}
	present := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "present"}}
	var log bytes.Buffer
	store := New(fake.NewClientset(present), options, record.NewFakeRecorder(10), slog.New(slog.NewTextHandler(&log, nil)))
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "system/missing") {
		t.Errorf("want one line about system/missing, got:\n%s", got)
	}
}
