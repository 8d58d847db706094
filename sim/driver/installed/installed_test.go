package installed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"windtunnel.dev/deploy"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/controllers"
	"windtunnel.dev/sim/permission"
	"windtunnel.dev/sim/subject"
)

func TestOpenSaysWhatIsMissing(t *testing.T) {
	s := newSite(t)
	before := s.names(t)
	for want, change := range map[string]func(*Options){
		"there is no IngressClass nginx":                                            func(o *Options) { o.Class = "nginx" },
		"the address of the controller is missing":                                  func(o *Options) { o.URLs = nil },
		"--url=shop.example: want http://HOST":                                      func(o *Options) { o.URLs = []string{"shop.example"} },
		"--url=http://shop.example/x: want http://HOST":                             func(o *Options) { o.URLs = []string{"http://shop.example/x"} },
		"there is another URL that begins with http":                                func(o *Options) { o.URLs = append(o.URLs, "http://127.0.0.1") },
		"one must begin with http://":                                               func(o *Options) { o.URLs = []string{"https://127.0.0.1"} },
		"--url=http://no-such-host.invalid:":                                        func(o *Options) { o.URLs = []string{"http://no-such-host.invalid"} },
		"nothing answers at 127.0.0.1:":                                             func(o *Options) { o.URLs = []string{"http://" + closedPort(t)} },
		"each case has namespaces of its own":                                       func(o *Options) { o.Flags = map[string]string{"watch-namespace": "shop"} },
		"a pool of 3 pods is too small: the run itself":                             func(o *Options) { o.LocalPods, o.Pool = false, 3 },
		"ask the API server for the user's permissions: Post \"http://127.0.0.1:1/": func(o *Options) { o.API = &rest.Config{Host: "http://127.0.0.1:1"} },
	} {
		o := s.options
		o.URLs = slices.Clone(o.URLs)
		change(&o)
		_, err := Open(t.Context(), o)
		mustFail(t, err, want)
	}
	if names := s.names(t); !slices.Equal(names, before) {
		t.Errorf("something was created: %v", names)
	}
}

// denying refuses verbs of resources in reviews of the user's own access, as an API server does for a
// user without these permissions.
type denying struct {
	http.RoundTripper
	denied []string // of the form "create ingresses"
}

func (d denying) RoundTrip(request *http.Request) (*http.Response, error) {
	var asked []byte
	review := strings.HasSuffix(request.URL.Path, "/selfsubjectaccessreviews")
	if review {
		asked, _ = io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(asked))
	}
	answer, err := d.RoundTripper.RoundTrip(request)
	if err != nil || !review {
		return answer, err
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	for _, one := range d.denied {
		verb, resource, _ := strings.Cut(one, " ")
		if bytes.Contains(asked, []byte(verb)) && bytes.Contains(asked, []byte(resource)) {
			text = bytes.Replace(text, []byte(`"allowed":true`), []byte(`"allowed":false`), 1)
		}
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return answer, err
}

func TestMissingPermissionsAreNamed(t *testing.T) {
	s := newSite(t)
	s.options.API.ContentType = runtime.ContentTypeJSON
	s.options.API.AcceptContentTypes = runtime.ContentTypeJSON
	s.options.API.WrapTransport = func(to http.RoundTripper) http.RoundTripper {
		return denying{to, []string{"delete namespaces", "create proxy"}}
	}
	_, err := Open(t.Context(), s.options)
	mustFail(t, err, "lacks permissions (deploy/cases has a role with all of them): delete namespaces")
	if strings.Contains(err.Error(), "proxy") {
		t.Errorf("local pods need no proxy: %v", err)
	}
	s.options.LocalPods, s.options.Pool = false, 10
	_, err = Open(t.Context(), s.options)
	mustFail(t, err, "create pods/proxy, delete namespaces")
}

// The roles of deploy/cases allow what a run does, and nothing else.
func TestRolesHaveThePermissions(t *testing.T) {
	objects, err := deploy.Build("cases", nil)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string][]string{}
	for _, one := range objects {
		role := one.(*rbacv1.ClusterRole)
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					allowed[role.Name] = append(allowed[role.Name], permission.Permission{Verb: verb, Group: rule.APIGroups[0], Resource: resource}.String())
				}
			}
		}
	}
	all := func(lists ...[]permission.Permission) (texts []string) {
		for _, p := range slices.Concat(lists...) {
			texts = append(texts, p.String())
		}
		return texts
	}
	plain := all(Options{}.permissions(), helpful)
	catchAll := all(Options{CatchAll: true}.permissions())[len(all(Options{}.permissions())):]
	for role, wanted := range map[string][]string{"windtunnel-cases": plain, "windtunnel-cases-catch-all": catchAll} {
		got := allowed[role]
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s allows\n%q, want\n%q", role, got, wanted)
		}
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	about := map[string]string{"app.kubernetes.io/name": "ingress-nginx", "app.kubernetes.io/component": "controller"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: about},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: about},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: about}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "controller", Image: "example/controller:1"}}}},
		},
	}
}

func TestReplicas(t *testing.T) {
	s := newSite(t)
	s.options.Replicas = 0
	if d := s.open(t); d.Replicas != assumedReplicas || !strings.Contains(s.notices[0], "--replicas") {
		t.Errorf("nothing is known: %d replicas, %q", d.Replicas, s.notices)
	}
	s.create(t, deployment("controller", 3))
	if d := s.open(t); d.Replicas != 3 || !strings.Contains(d.String(), "IngressClass staging of http://127.0.0.1:") || !strings.HasSuffix(d.String(), ", image example/controller:1, 3 replicas") {
		t.Errorf("with a Deployment: %d replicas of %s", d.Replicas, d)
	}
	s.options.Replicas = 5
	if d := s.open(t); d.Replicas != 5 || !strings.HasSuffix(d.String(), "5 replicas") {
		t.Errorf("with --replicas: %d of %s", d.Replicas, d)
	}
	s.options.Replicas = 0
	s.create(t, deployment("other", 2))
	if d := s.open(t); d.Replicas != assumedReplicas {
		t.Errorf("with two Deployments: %d replicas", d.Replicas)
	}
}

func TestAddressesAreSuggested(t *testing.T) {
	s := newSite(t)
	s.options.URLs = nil
	about := map[string]string{"app.kubernetes.io/name": "ingress-nginx", "app.kubernetes.io/component": "controller"}
	service := func(name string, ports ...int32) *corev1.Service {
		made := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: about}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
		for _, port := range ports {
			made.Spec.Ports = append(made.Spec.Ports, corev1.ServicePort{Name: strings.Repeat("x", int(port%7)+1), Port: port})
		}
		return made
	}
	balanced := service("controller", 80, 443)
	s.create(t, service("admission", 443), balanced)
	balanced.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.7"}}
	if _, err := s.api.Writer().UpdateStatus(balanced); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), s.options)
	mustFail(t, err, "Service shop/controller has --url http://203.0.113.7 --url https://203.0.113.7")
	if strings.Contains(err.Error(), "admission") {
		t.Error(err)
	}
}

// Suggested URLs can be used as they are: there is one per scheme, with a complete address.
func TestSuggestedAddressesCanBeUsed(t *testing.T) {
	service := corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Port: 80, Protocol: corev1.ProtocolTCP}, {Port: 443, Protocol: corev1.ProtocolTCP}, {Port: 443, Protocol: corev1.ProtocolUDP}, // HTTP/3
	}}}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.7", Hostname: "lb.example"}}
	if got, want := urlsOf(service), []string{"http://203.0.113.7", "https://203.0.113.7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A run removes everything, however it ends.
func TestStopRemovesEverything(t *testing.T) {
	s := newSite(t)
	s.options.CatchAll = true
	before := s.names(t)
	i := s.prepare(t)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "of-a-case"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}
	for _, typed := range []runtime.Object{class, namespace("a-case"), configMap("a-case", "one", nil), ingress("a-case", "web", "a.example")} {
		if _, err := i.Objects().Put(t.Context(), object(t, typed)); err != nil {
			t.Fatal(err)
		}
	}
	if names := s.names(t); len(names) != len(before)+3 {
		t.Errorf("the run has %v", names)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // after Ctrl-C
	if err := i.Stop(ended); err != nil {
		t.Error(err)
	}
	if after := s.names(t); !slices.Equal(before, after) {
		t.Errorf("%v is left", after)
	}
}

// A failed start leaves nothing behind.
func TestFailedStartRemovesEverything(t *testing.T) {
	s := newSiteWith(t, kubeapi.Options{Kubelet: true, NamespaceController: true})
	running, err := controllers.Start(t.Context(), s.api.Config(), controllers.Options{}, controllers.Names()...)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	before := s.names(t)
	s.options.LocalPods, s.options.Pool, s.options.Image = false, sentinels+1, "no/such-image"
	d := s.open(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("interrupted while the pool starts")
	go func() {
		for ctx.Err() == nil {
			if list, err := s.client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{}); err == nil && len(list.Items) > 0 {
				cancel(enough)
			}
		}
	}()
	if _, err := d.Prepare(ctx, subject.Subject{Name: "subject"}, options()); err == nil {
		t.Error("the run began")
	}
	if after := s.names(t); !slices.Equal(before, after) {
		t.Errorf("%v is left", after)
	}
}
