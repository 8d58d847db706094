package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	newevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

// These tests send what real ingress controllers send when they start.

// controllerCluster returns a cluster with the objects that such a controller needs: its own pod,
// the node that it runs on, an ingress.
func controllerCluster(t *testing.T) (*Server, *kubernetes.Clientset) {
	s := start(t)
	c := client(t, s.Config())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "controller", Labels: map[string]string{"app": "ingress"}},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "controller", Image: "controller"}}}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "publish"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	_, err := c.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	check(t, err)
	pod, err = c.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	check(t, err)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, err = c.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	check(t, err)
	_, err = c.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{})
	check(t, err)
	_, err = c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("options", "1"), metav1.CreateOptions{})
	check(t, err)
	_, err = c.NetworkingV1().Ingresses("default").Create(t.Context(), ingress("web"), metav1.CreateOptions{})
	check(t, err)
	return s, c
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// synced starts informers and waits until all of them have their objects.
func synced(t *testing.T, all ...cache.SharedIndexInformer) {
	t.Helper()
	var waits []cache.InformerSynced
	for _, informer := range all {
		check(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { t.Errorf("an informer: %v", err) }))
		go informer.Run(t.Context().Done())
		waits = append(waits, informer.HasSynced)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), waits...) {
		t.Fatal("the informers did not sync")
	}
}

// lead wins an election, and returns after the lease has been renewed once.
func lead(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Client: c.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}}
	w, err := c.CoordinationV1().Leases("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	check(t, err)
	defer w.Stop()
	led := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 50 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(led) }, OnStoppedLeading: func() {}},
	})
	check(t, err)
	done := make(chan struct{})
	go func() { elector.Run(ctx); close(done) }()
	var kinds []string
	for len(kinds) < 2 {
		kinds = append(kinds, string((<-w.ResultChan()).Type))
	}
	<-led
	cancel()
	<-done
	if !slices.Equal(kinds, []string{"ADDED", "MODIFIED"}) {
		t.Errorf("the lease was %v, want it taken and renewed", kinds)
	}
	lease, err := c.CoordinationV1().Leases("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != "" {
		t.Errorf("the lease was not released: %+v, %v", lease, err)
	}
}

// publishStatus writes the address of an ingress into its status, as a leader does.
func publishStatus(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	ings := c.NetworkingV1().Ingresses("default")
	ing, err := ings.Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	ing.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{ingressAddress("127.0.0.1")}
	updated, err := ings.UpdateStatus(t.Context(), ing, metav1.UpdateOptions{})
	if err != nil || len(updated.Status.LoadBalancer.Ingress) != 1 {
		t.Errorf("status %+v, %v", updated, err)
	}
}

func TestIngressNginxStarts(t *testing.T) {
	_, c := controllerCluster(t)
	version, err := c.Discovery().ServerVersion()
	check(t, err)
	if v, err := utilversion.ParseGeneric(version.GitVersion); err != nil || !v.AtLeast(utilversion.MustParseGeneric("1.19.0")) {
		t.Errorf("version %s, %v", version.GitVersion, err)
	}
	_, err = c.CoreV1().Services("default").Get(t.Context(), "publish", metav1.GetOptions{})
	check(t, err)
	_, err = c.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	check(t, err)
	_, err = c.NetworkingV1().IngressClasses().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	pod, err := c.CoreV1().Pods("default").Get(t.Context(), "controller", metav1.GetOptions{})
	check(t, err)
	_, err = c.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
	check(t, err)
	_, err = c.CoreV1().ConfigMaps("default").Get(t.Context(), "options", metav1.GetOptions{})
	check(t, err)

	plain := informers.NewSharedInformerFactory(c, 0)
	secrets := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "type!=helm.sh/release.v1" }))
	configMaps := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "OWNER!=TILLER" }))
	synced(t, secrets.Core().V1().Secrets().Informer(), configMaps.Core().V1().ConfigMaps().Informer(), plain.Core().V1().Services().Informer(),
		plain.Discovery().V1().EndpointSlices().Informer(), plain.Networking().V1().IngressClasses().Informer(), plain.Core().V1().Namespaces().Informer())
	synced(t, plain.Networking().V1().Ingresses().Informer())

	lead(t, c, "ingress-nginx-leader")
	pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=ingress"})
	if err != nil || len(pods.Items) != 1 || pods.Items[0].Status.Phase != corev1.PodRunning {
		t.Errorf("its own pods: %v, %v", pods, err)
	}
	publishStatus(t, c)
	recordTwice(t, c, pod)
}

// recordTwice sends a core event, and a patch when it happens again.
func recordTwice(t *testing.T, c kubernetes.Interface, about runtime.Object) {
	t.Helper()
	w, err := c.CoreV1().Events("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("reason", "RELOAD").String()})
	check(t, err)
	defer w.Stop()
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedEvents{c})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "nginx-ingress-controller"})
	recorder.Event(about, corev1.EventTypeNormal, "RELOAD", "NGINX reload triggered due to a change in configuration")
	if e := <-w.ResultChan(); e.Type != "ADDED" {
		t.Fatalf("saw %+v", e)
	}
	recorder.Event(about, corev1.EventTypeNormal, "RELOAD", "NGINX reload triggered due to a change in configuration")
	if e := <-w.ResultChan(); e.Type != "MODIFIED" || e.Object.(*corev1.Event).Count != 2 {
		t.Fatalf("saw %+v", e)
	}
}

// typedEvents is client-go's own sink, in the namespace of each event.
type typedEvents struct{ kubernetes.Interface }

func (e typedEvents) Create(ev *corev1.Event) (*corev1.Event, error) {
	return e.CoreV1().Events("").CreateWithEventNamespaceWithContext(context.Background(), ev)
}

func (e typedEvents) Update(ev *corev1.Event) (*corev1.Event, error) {
	return e.CoreV1().Events("").UpdateWithEventNamespaceWithContext(context.Background(), ev)
}

func (e typedEvents) Patch(ev *corev1.Event, data []byte) (*corev1.Event, error) {
	return e.CoreV1().Events("").PatchWithEventNamespaceWithContext(context.Background(), ev, data)
}

// resourcesOf defines namespaced kinds with a minimal schema.
func resourcesOf(t *testing.T, s *Server, group, version string, kinds ...string) []schema.GroupVersionResource {
	t.Helper()
	var all []schema.GroupVersionResource
	for _, kind := range kinds {
		plural := strings.ToLower(kind) + "s"
		if strings.HasSuffix(kind, "y") {
			plural = strings.ToLower(strings.TrimSuffix(kind, "y")) + "ies"
		}
		define(t, s, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {plural: %[1]s, kind: %[4]s}
  versions:
  - {name: %[3]s, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, plural, group, version, kind))
		all = append(all, schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
	}
	return all
}

func TestTraefikStarts(t *testing.T) {
	s, c := controllerCluster(t)
	custom := resourcesOf(t, s, "traefik.io", "v1alpha1", "IngressRoute", "IngressRouteTCP", "IngressRouteUDP", "Middleware", "MiddlewareTCP",
		"TraefikService", "TLSOption", "TLSStore", "ServersTransport", "ServersTransportTCP")
	strip := informers.WithTransform(func(obj any) (any, error) { obj.(metav1.Object).SetManagedFields(nil); return obj, nil })
	plain := informers.NewSharedInformerFactoryWithOptions(c, 10*time.Minute, strip)
	secrets := informers.NewSharedInformerFactoryWithOptions(c, 10*time.Minute, strip, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "owner!=helm" }))
	all := []cache.SharedIndexInformer{plain.Networking().V1().Ingresses().Informer(), plain.Networking().V1().IngressClasses().Informer(),
		plain.Core().V1().Services().Informer(), plain.Discovery().V1().EndpointSlices().Informer(), plain.Core().V1().Nodes().Informer(),
		plain.Core().V1().ConfigMaps().Informer(), secrets.Core().V1().Secrets().Informer()}
	dynamics := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient(t, s.Config()), 10*time.Minute)
	for _, gvr := range custom {
		all = append(all, dynamics.ForResource(gvr).Informer())
	}
	synced(t, all...)
	publishStatus(t, c)
}

// haproxy-ingress and contour are controller-runtime programs: they map kinds by discovery, watch,
// elect a leader and write events of events.k8s.io.
func TestControllerRuntimeStarts(t *testing.T) {
	s, c := controllerCluster(t)
	custom := resourcesOf(t, s, "projectcontour.io", "v1", "HTTPProxy", "TLSCertificateDelegation")
	custom = append(custom, resourcesOf(t, s, "projectcontour.io", "v1alpha1", "ExtensionService", "ContourConfiguration")...)
	for _, legacy := range []bool{false, true} {
		d := discoverer(t, s)
		d.UseLegacyDiscovery = legacy
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))
		for gk, want := range map[schema.GroupKind]string{
			{Group: "networking.k8s.io", Kind: "Ingress"}: "v1", {Group: "discovery.k8s.io", Kind: "EndpointSlice"}: "v1", {Kind: "Service"}: "v1",
			{Group: "coordination.k8s.io", Kind: "Lease"}: "v1", {Group: "projectcontour.io", Kind: "HTTPProxy"}: "v1",
			{Group: "projectcontour.io", Kind: "ExtensionService"}: "v1alpha1",
		} {
			if m, err := mapper.RESTMapping(gk); err != nil || m.Resource.Version != want {
				t.Errorf("mapping of %s: %+v, %v", gk, m, err)
			}
		}
		// Without the Gateway API its group is missing, and the answer is a 404.
		if _, err := d.ServerResourcesForGroupVersion("gateway.networking.k8s.io/v1"); !errors.IsNotFound(err) {
			t.Errorf("the Gateway API: %v", err)
		}
		if ok, err := discovery.IsResourceEnabled(d, custom[0]); err != nil || !ok {
			t.Errorf("%v is not enabled: %v", custom[0], err)
		}
	}
	plain := informers.NewSharedInformerFactory(c, 0)
	all := []cache.SharedIndexInformer{plain.Core().V1().ConfigMaps().Informer(), plain.Core().V1().Services().Informer(), plain.Discovery().V1().EndpointSlices().Informer(),
		plain.Core().V1().Secrets().Informer(), plain.Core().V1().Pods().Informer(), plain.Networking().V1().Ingresses().Informer(),
		plain.Networking().V1().IngressClasses().Informer(), plain.Core().V1().Namespaces().Informer()}
	dynamics := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient(t, s.Config()), 0)
	for _, gvr := range custom {
		all = append(all, dynamics.ForResource(gvr).Informer())
	}
	synced(t, all...)
	lead(t, c, "leader-election-contour")
	publishStatus(t, c)
	recordNewer(t, c)
}

// recordNewer sends an event of events.k8s.io.
func recordNewer(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	w, err := c.EventsV1().Events("default").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer w.Stop()
	broadcaster := newevents.NewBroadcaster(&newevents.EventSinkImpl{Interface: c.EventsV1()})
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(t.Context().Done())
	ing, err := c.NetworkingV1().Ingresses("default").Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	broadcaster.NewRecorder(scheme.Scheme, "controller").Eventf(ing, nil, corev1.EventTypeNormal, "Synced", "Sync", "synced %s", ing.Name)
	if e := <-w.ResultChan(); e.Type != "ADDED" {
		t.Fatalf("saw %+v", e)
	}
}

// haproxytech's controller waits until its own kinds are defined, while it is running.
func TestHAProxyTechStarts(t *testing.T) {
	s, c := controllerCluster(t)
	_, err := c.Discovery().ServerVersion()
	check(t, err)
	crds := apiextensionsinformers.NewSharedInformerFactory(definitions(t, s), 0).Apiextensions().V1().CustomResourceDefinitions().Informer()
	defined := make(chan string, 10)
	_, err = crds.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { defined <- obj.(metav1.Object).GetName() }})
	check(t, err)
	plain := informers.NewSharedInformerFactory(c, 0)
	synced(t, crds, plain.Core().V1().Namespaces().Informer(), plain.Core().V1().Services().Informer(), plain.Core().V1().Secrets().Informer(),
		plain.Core().V1().ConfigMaps().Informer(), plain.Networking().V1().Ingresses().Informer(), plain.Networking().V1().IngressClasses().Informer(),
		plain.Discovery().V1().EndpointSlices().Informer())
	custom := resourcesOf(t, s, "ingress.v3.haproxy.org", "v3", "Backend", "Defaults", "Global", "TCP")
	dynamics := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient(t, s.Config()), 0)
	for _, gvr := range custom {
		expect(t, defined, gvr.Resource+"."+gvr.Group)
		synced(t, dynamics.ForResource(gvr).Informer())
	}
	publishStatus(t, c)
}
