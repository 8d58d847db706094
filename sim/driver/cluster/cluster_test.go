package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/deploy"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/permission"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/traffic"
)

// The role of deploy/cluster allows what a run does, and nothing else.
func TestRoleHasThePermissions(t *testing.T) {
	objects, err := deploy.Build("cluster", nil)
	if err != nil {
		t.Fatal(err)
	}
	var allowed, wanted []string
	for _, one := range objects {
		for _, rule := range one.(*rbacv1.ClusterRole).Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					allowed = append(allowed, permission.Permission{Verb: verb, Group: rule.APIGroups[0], Resource: resource}.String())
				}
			}
		}
	}
	for _, p := range slices.Concat(permissions, several, helpful) {
		wanted = append(wanted, p.String())
	}
	slices.Sort(allowed)
	slices.Sort(wanted)
	if !slices.Equal(allowed, wanted) {
		t.Errorf("the role allows\n%q, want\n%q", allowed, wanted)
	}
}

// controllerObjects returns the objects of a controller whose scenario has objects in these namespaces.
func controllerObjects(t *testing.T, namespaces ...string) []runtime.Object {
	t.Helper()
	here := home{run: "abc"}
	i := &instance{
		driver: &Driver{Options: Options{Image: "registry.example/windtunnel-controller:v1", Harness: "registry.example/windtunnel:v1"}},
		home:   here, names: newNames(here, namespaces), options: driver.Options{Streams: []string{"demo/web:9000"}},
		subject: subject.Subject{Controller: subject.Bundled, Config: map[string]string{"some-service": "demo/a", "worker-processes": "2"}},
	}
	objects, err := i.controllerObjects()
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// Everything of a controller is in the namespace of its run, or named after it.
func TestControllerIsTheRuns(t *testing.T) {
	const run = "windtunnel-run-abc"
	deployments := 0
	for _, typed := range controllerObjects(t, "demo") {
		object := typed.(metav1.Object)
		if object.GetNamespace() != run && object.GetName() != run {
			t.Errorf("%T %s/%s is outside of the run", typed, object.GetNamespace(), object.GetName())
		}
		switch o := typed.(type) {
		case *corev1.Service:
			if o.Spec.Type != corev1.ServiceTypeClusterIP {
				t.Errorf("the Service is a %s", o.Spec.Type)
			}
		case *corev1.ConfigMap:
			if o.Data["worker-processes"] == "2" && o.Data["some-service"] != run+"/a" {
				t.Errorf("the ConfigMap has %v", o.Data)
			}
			if o.Name == "tcp-services" && o.Data["11000"] != run+"/web:9000" {
				t.Errorf("the TCP services are %v", o.Data)
			}
		case *rbacv1.ClusterRoleBinding:
			if o.RoleRef.Name != run || o.Subjects[0].Namespace != run {
				t.Errorf("the binding is %+v", o)
			}
		case *appsv1.Deployment:
			deployments++
			pod := o.Spec.Template.Spec
			args := strings.Join(pod.Containers[0].Args, " ")
			for _, want := range []string{"--watch-namespace=" + run, "--ingress-class=" + run + "-nginx", "--controller-class=windtunnel.dev/" + run + "-ingress-nginx", "--log-format=json"} {
				if !strings.Contains(args, want) {
					t.Errorf("the arguments are %s, want %s", args, want)
				}
			}
			if len(pod.Containers) != 2 || !*pod.ShareProcessNamespace || pod.HostNetwork {
				t.Errorf("the pod is %+v", pod)
			}
		}
	}
	if deployments != 1 {
		t.Errorf("%d Deployments", deployments)
	}
}

// The API server does not know the CMD of an image, which the arguments of a container replace. Manifests
// of ingress-nginx name its program in the arguments, and so the images of forks need it there. Forks write
// files of their images, and their programs may have the capability to bind low ports.
func TestOtherImagesRunTheirController(t *testing.T) {
	for image, want := range map[string]string{
		"registry.example/windtunnel-controller:v1": "--publish-service=",
		"registry.example/fork:v1":                  "/nginx-ingress-controller",
	} {
		i := &instance{driver: &Driver{Options: Options{Image: image}}, home: home{run: "abc"}, subject: subject.Subject{Controller: subject.Bundled}}
		objects, err := i.controllerObjects()
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if d, ok := object.(*appsv1.Deployment); ok {
				container, bundled := d.Spec.Template.Spec.Containers[0], strings.Contains(image, "windtunnel")
				if !strings.HasPrefix(container.Args[0], want) {
					t.Errorf("%s: the arguments are %v, want %s first", image, container.Args, want)
				}
				if may := container.SecurityContext; *may.ReadOnlyRootFilesystem != bundled || slices.Contains(may.Capabilities.Add, "NET_BIND_SERVICE") == bundled {
					t.Errorf("%s: the security context is %+v", image, may)
				}
			}
		}
	}
}

// The demands with which the room is computed equal the requests of the pods.
func TestDemandsAreThoseOfTheManifests(t *testing.T) {
	i := &instance{driver: &Driver{Options: Options{Traffic: 2}}, pool: 3, home: home{run: "abc"}}
	pods := map[string]corev1.PodSpec{"traffic pod": i.trafficJob(2).Spec.Template.Spec}
	for _, object := range controllerObjects(t, "demo") {
		if d, ok := object.(*appsv1.Deployment); ok {
			pods["controller and observer"] = d.Spec.Template.Spec
		}
	}
	for _, d := range i.demands() {
		pod, known := pods[d.what]
		if known && len(pod.Containers) != len(d.containers) {
			t.Errorf("%s: %d containers, the demand has %d", d.what, len(pod.Containers), len(d.containers))
			continue
		}
		for n, c := range pod.Containers {
			if want := d.containers[n]; c.Name != want.name || !equality.Semantic.DeepEqual(c.Resources.Requests, want.requests) {
				t.Errorf("%s: the container %s requests %v, the demand is %+v", d.what, c.Name, c.Resources.Requests, want)
			}
		}
		delete(pods, d.what)
	}
	if len(pods) > 0 {
		t.Errorf("no demand for %v", pods)
	}
}

// Traffic pods of a Job share the requests, and their events are logged; then everything is removed.
func TestTrafficFromPods(t *testing.T) {
	s := newSite(t)
	o := s.options()
	o.Traffic = 3
	d := s.open(t, o)
	d.annotations = map[string]string{"windtunnel.dev/run-for": "1h"}
	i, err := s.prepare(t, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := i.startTraffic(t.Context()); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	t.Cleanup(web.Close)
	begin, err := i.Generators().Begin(t.Context(), []traffic.Order{{
		Attack: traffic.Attack{
			Lane: "http", To: netip.MustParseAddrPort(web.Listener.Addr().String()), Targets: []traffic.Target{{Host: "a"}}, Subject: "subject",
		},
		Arrivals: traffic.Arrivals{Rate: 50},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i.options.Log.Now() < begin+300*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	if err := i.Generators().End(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.checkTraffic(t, 3)
	s.end(t, i)
}

// end ends a run, and checks that it has left nothing behind.
func (s *site) end(t *testing.T, i *instance) {
	t.Helper()
	if err := i.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.checkEmpty(t)
}

func (s *site) checkTraffic(t *testing.T, pods int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	due, sent, clocks := 0, 0, map[string]bool{}
	for _, e := range s.events {
		switch {
		case e.Missing != nil:
			t.Errorf("missing: %+v", e.Missing)
		case e.Load != nil:
			due += e.Load.Due - e.Load.Missed
		case e.Request != nil:
			sent++
		case e.Clock != nil && e.Clock.Role == event.TrafficClock:
			clocks[e.Clock.Pod] = e.Clock.Node != ""
		}
	}
	if due != sent || due < 10 || len(clocks) != pods {
		t.Errorf("%d due, %d sent, the clocks of %v; want as many, and %d clocks", due, sent, clocks, pods)
	}
}

// checkEmpty checks that the run has left nothing behind.
func (s *site) checkEmpty(t *testing.T) {
	t.Helper()
	namespaces, err := s.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		t.Fatal(err)
	}
	roles, err := s.client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := s.client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(namespaces.Items) + len(roles.Items) + len(bindings.Items); n > 0 {
		t.Errorf("%d objects are left: %v", n, namespaces.Items)
	}
}

// A run removes what a killed run has left behind, but nothing of one that lives.
func TestLeftovers(t *testing.T) {
	s := newSite(t)
	d := s.open(t, s.options())
	killed := home{client: s.client, run: "killed"}
	if err := killed.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	killed.endLease()
	alive := home{client: s.client, run: "alive"}
	if err := alive.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alive.endLease)
	leases := s.client.CoordinationV1().Leases(killed.name())
	lease, err := leases.Get(t.Context(), leaseName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
	if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.open(t, s.options())
	said := strings.Join(s.notices, "\n")
	if !strings.Contains(said, "removing what run killed left behind") || !strings.Contains(said, "run alive is under way") {
		t.Errorf("the user is told %q", said)
	}
	if err := cluster.FindLeftovers(d.leftovers).RemoveExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := s.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Name != alive.name() {
		t.Errorf("left are %v, want that of the run which lives", list.Items)
	}
}

// A subject for which there is no room starts no pod.
func TestNoRoom(t *testing.T) {
	s := newSite(t)
	o := s.options()
	o.Pool = 100_000
	_, err := s.prepare(t, s.open(t, o))
	if err == nil || !strings.Contains(err.Error(), "100000 × simulated pod 16Mi") {
		t.Errorf("got %v, want the arithmetic", err)
	}
	s.checkEmpty(t)
}
