package installed

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/subject"
)

// site is a cluster with an IngressClass, a namespace of others, and a server that answers HTTP.
type site struct {
	api     *kubeapi.Server
	client  kubernetes.Interface
	options Options

	mu      sync.Mutex
	notices []string
}

func newSite(t *testing.T) *site { return newSiteWith(t, kubeapi.Options{}) }

func newSiteWith(t *testing.T, o kubeapi.Options) *site {
	t.Helper()
	o.HTTP, o.AllowLoopbackEndpoints = "127.0.0.1:0", true
	api, err := kubeapi.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	nginx := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nginx.Close)
	s := &site{api: api, client: kubernetes.NewForConfigOrDie(api.Config())}
	s.options = Options{API: api.Config(), URLs: []string{nginx.URL}, Class: "staging", Replicas: 2, LocalPods: true, Tell: s.tell}
	s.create(t,
		&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "staging"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}},
		&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "second"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}},
		&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/other"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
	)
	return s
}

func (s *site) tell(notice string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, notice)
}

func (s *site) create(t *testing.T, objects ...runtime.Object) {
	t.Helper()
	for _, object := range objects {
		if _, err := s.api.Writer().Create(object); err != nil {
			t.Fatal(err)
		}
	}
}

// open examines the installation.
func (s *site) open(t *testing.T) *Driver {
	t.Helper()
	d, err := Open(t.Context(), s.options)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// prepare begins a run, which ends with the test at the latest.
func (s *site) prepare(t *testing.T) *instance {
	t.Helper()
	made, err := s.open(t).Prepare(t.Context(), subject.Subject{Name: "subject"}, options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Stop(context.Background()) })
	return made.(*instance)
}

func options() driver.Options {
	return driver.Options{Log: event.NewLog(&bytes.Buffer{}, time.Now())}
}

// names returns the namespaces and IngressClasses of the cluster: "Namespace shop", "IngressClass staging".
func (s *site) names(t *testing.T) []string {
	t.Helper()
	namespaces, err := s.client.CoreV1().Namespaces().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	classes, err := s.client.NetworkingV1().IngressClasses().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, one := range namespaces.Items {
		all = append(all, "Namespace "+one.Name)
	}
	for _, one := range classes.Items {
		all = append(all, "IngressClass "+one.Name)
	}
	slices.Sort(all)
	return all
}

func object(t *testing.T, typed runtime.Object) *unstructured.Unstructured {
	t.Helper()
	made, err := cluster.Object(typed)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func configMap(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

// ingress returns an ingress of the class staging for hosts.
func ingress(namespace, name string, hosts ...string) *networkingv1.Ingress {
	made := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{}},
		Spec:       networkingv1.IngressSpec{IngressClassName: new("staging")},
	}
	for _, host := range hosts {
		made.Spec.Rules = append(made.Spec.Rules, networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}},
			}}},
		}}})
	}
	return made
}

// closedPort returns an address at which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// mustFail checks that an error has a text.
func mustFail(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
