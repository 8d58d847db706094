package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/pires/go-proxyproto"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

const (
	// livePatience is how long a controller may take to serve a change.
	livePatience = 30 * time.Second
	// startPatience is how long a controller may take to become healthy.
	startPatience = time.Minute
	// stopPatience is how long a controller may take to end by itself.
	stopPatience = 20 * time.Second
	// keptRecords is how many of the requests that pods receive are kept until they are read.
	keptRecords = 4096
	// steady is how many new connections in a row must show that a change is live.
	steady = 3
	// pollInterval is how often each worker of ingress-nginx looks for new endpoints.
	pollInterval = time.Second
)

// sentinel is the name of an ingress, its service and their namespace. They change after other
// changes. When a change of them is served, the controller has processed the others.
const sentinel = "windtunnel-sentinel"

// loudness says how a change of the sentinel may be made.
type loudness bool

const (
	noisy loudness = false // with a reload, which is faster
	quiet loudness = true  // with endpoints only, so that the number of reloads tells what else did
)

// installation is a running controller with its cluster.
type installation struct {
	instance driver.Instance
	client   *cluster.Client
	workers  *probe.Workers
	dir      string
	log      *os.File
	cancel   context.CancelFunc // ends the probes
	// reloadsAlways says that changes of endpoints need a reload, too, so that reloads tell nothing.
	reloadsAlways bool
	turn          int               // of the sentinel's pods
	moves         int               // of the sentinel's host
	flags         map[string]string // of the controller

	started   map[string]int       // how many pods were started, by service
	configMap types.NamespacedName // the controller's
	base      map[string]string    // its data before the first case
	seen      int                  // the last record of the fleet that was read
	config    map[string]string    // its data now
	ipv6      bool                 // whether nginx listens on IPv6 as well, where the driver restricts it to IPv4
}

// open starts a controller, with the ConfigMap that its driver gives it.
func open(ctx context.Context, d driver.Driver, s subject.Subject, configMap types.NamespacedName, dir string) (_ *installation, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return nil, err
	}
	log := event.NewLog(file, time.Now())
	instance, err := d.Prepare(ctx, s, driver.Options{Dir: dir, Log: log})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	i := &installation{instance: instance, dir: dir, log: file, cancel: func() {}, started: map[string]int{}, configMap: configMap, flags: s.Flags, reloadsAlways: s.Flags["dynamic-configuration"] == "false"}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.close(ctx))
		}
	}()
	if fleet, ok := instance.Pods().(backend.ScriptedFleet); ok {
		fleet.Record(keptRecords)
	}
	if i.client, err = cluster.New(instance.API()); err != nil {
		return nil, err
	}
	if err = i.createSentinel(ctx); err != nil {
		return nil, err
	}
	if err = i.put(ctx, requiredBy(s.Flags)...); err != nil {
		return nil, err
	}
	starting, started := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("not within %v", startPatience))
	defer started()
	if err = instance.Launch(starting); err != nil {
		return nil, err
	}
	if err = i.readConfig(ctx); err != nil {
		return nil, err
	}
	watching, cancel := context.WithCancel(ctx)
	i.cancel = cancel
	i.workers = probe.WatchWorkers(watching, log, s.Name, instance.Master)
	return i, nil
}

// close ends the controller and everything that belongs to it.
func (i *installation) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	i.cancel()
	if i.workers != nil {
		<-i.workers.Done()
	}
	return errors.Join(i.instance.Stop(ctx), i.log.Close())
}

// put creates or replaces objects, in their order.
func (i *installation) put(ctx context.Context, objects ...runtime.Object) error {
	for _, typed := range objects {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if _, err := i.client.Put(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// readConfig reads the data that the driver gave to the controller's ConfigMap.
func (i *installation) readConfig(ctx context.Context) error {
	api, err := kubernetes.NewForConfig(i.instance.API())
	if err != nil {
		return err
	}
	found, err := api.CoreV1().ConfigMaps(i.configMap.Namespace).Get(ctx, i.configMap.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the ConfigMap of the controller: %w", err)
	}
	i.base, i.config = found.Data, found.Data
	return nil
}

// oneWorker makes nginx run a single worker, so that a change that one connection has seen is seen
// by all.
var oneWorker = map[string]string{"worker-processes": "1"}

// Drivers on this machine restrict nginx to one address.
const (
	bindAddress = "bind-address"
	loopback    = "127.0.0.1"
	loopback6   = "::1"
)

// configure gives the controller's ConfigMap the keys of its driver and these.
func (i *installation) configure(ctx context.Context, config map[string]string) error {
	data := maps.Clone(oneWorker)
	maps.Copy(data, i.base)
	if i.ipv6 && data[bindAddress] == loopback {
		data[bindAddress] = loopback + "," + loopback6
	}
	maps.Copy(data, config)
	if maps.Equal(data, i.config) {
		return nil
	}
	i.config = data
	return i.put(ctx, i.sentinelIngress(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: i.configMap.Namespace, Name: i.configMap.Name}, Data: data})
}

// reachable returns the annotations that let the sentinel answer whatever the ConfigMap says. Those
// of medium risk are left out unless they are needed, because the ConfigMap may forbid them.
func reachable(config map[string]string) map[string]string {
	annotations := map[string]string{"ssl-redirect": "false", "enable-global-auth": "false"}
	for key, value := range map[string]string{
		"force-ssl-redirect":     "false",
		"whitelist-source-range": "0.0.0.0/0,::/0",
		"denylist-source-range":  "192.0.2.1/32", // nobody (RFC 5737)
		"service-upstream":       "false",
	} {
		if config[key] != "" {
			annotations[key] = value
		}
	}
	prefixed := map[string]string{}
	for key, value := range annotations {
		prefixed["nginx.ingress.kubernetes.io/"+key] = value
	}
	return prefixed
}

// sentinelNamespace is the namespace of the sentinel: one that the controller watches.
func (i *installation) sentinelNamespace() string {
	return cmp.Or(i.flags["watch-namespace"], sentinel)
}

// createSentinel creates the sentinel where the controller's flags let it be served.
func (i *installation) createSentinel(ctx context.Context) error {
	namespace := metav1.ObjectMeta{Name: i.sentinelNamespace()}
	if selector, err := metav1.ParseToLabelSelector(i.flags["watch-namespace-selector"]); err == nil {
		namespace.Labels = selector.MatchLabels
	}
	meta := metav1.ObjectMeta{Namespace: namespace.Name, Name: sentinel}
	class := func(name, controller string) *networkingv1.IngressClass {
		return &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
	}
	if err := i.put(ctx,
		&corev1.Namespace{ObjectMeta: namespace},
		class(corpus.IngressClass, corpus.ControllerName),
		class(sentinel, cmp.Or(i.flags["controller-class"], corpus.ControllerName)),
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}},
	); err != nil {
		return err
	}
	if err := i.rotate(ctx); err != nil {
		return err
	}
	return i.move(ctx)
}

// host is the sentinel's host.
func (i *installation) host() string { return fmt.Sprintf("%s-%d.invalid", sentinel, i.moves) }

// move gives the sentinel another host, which needs a reload.
func (i *installation) move(ctx context.Context) error {
	i.moves++
	return i.put(ctx, i.sentinelIngress())
}

// sentinelIngress returns the sentinel's ingress, for the controller's current ConfigMap.
func (i *installation) sentinelIngress() *networkingv1.Ingress {
	pathType := networkingv1.PathTypePrefix
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.sentinelNamespace(), Name: sentinel, Annotations: reachable(i.config)},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new(sentinel),
			Rules: []networkingv1.IngressRule{{Host: i.host(), IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &pathType, Backend: networkingv1.IngressBackend{
					Service: &networkingv1.IngressServiceBackend{Name: sentinel, Port: networkingv1.ServiceBackendPort{Number: 80}},
				}}},
			}}}},
		},
	}
}

// pod is the name of the sentinel's pod.
func (i *installation) pod() string { return fmt.Sprintf("%s/%s-%d", sentinel, sentinel, i.turn) }

// rotate replaces the sentinel's pod.
func (i *installation) rotate(ctx context.Context) error {
	i.turn++
	pod, err := i.instance.Pods().Start(i.pod(), sentinel+"/"+sentinel)
	if err != nil {
		return err
	}
	if err := pod.Ready(); err != nil {
		return err
	}
	return i.put(ctx, endpoints(i.sentinelNamespace(), sentinel, []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(pod.Addr().Port()))}}, pod))
}

// live returns when the controller serves everything that was written before the call.
//
// The sentinel changes twice. A controller may read the first change before an earlier change of
// another kind, because it watches each kind by itself. The second change is written when the first
// one is served, so long after everything else. It is always one of endpoints: a worker that has it
// has all endpoints that the controller knew then.
func (i *installation) live(ctx context.Context, how loudness) error {
	ctx, cancel := context.WithTimeoutCause(ctx, livePatience, fmt.Errorf("not within %v", livePatience))
	defer cancel()
	first := i.relocate
	if how == quiet {
		first = i.renew
	}
	if err := first(ctx); err != nil {
		return err
	}
	if err := i.renew(ctx); err != nil {
		return err
	}
	if i.config["worker-processes"] != oneWorker["worker-processes"] {
		select { // one worker has the change; the others have it after their next poll
		case <-time.After(pollInterval + pollInterval/10):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	_, err := i.workers.Await(ctx, oneGeneration)
	return err
}

// relocate gives the sentinel another host, and returns when that answers.
func (i *installation) relocate(ctx context.Context) error {
	if err := i.move(ctx); err != nil {
		return err
	}
	return i.answers(ctx)
}

// renew replaces the sentinel's pod, and ends the old one when the new one answers.
func (i *installation) renew(ctx context.Context) error {
	old := i.pod()
	if err := i.rotate(ctx); err != nil {
		return err
	}
	if err := i.answers(ctx); err != nil {
		return err
	}
	if pod, ok := i.instance.Pods().Get(old); ok {
		pod.Terminate(0)
	}
	return nil
}

// ended reports whether the controller has ended by itself.
func (i *installation) ended() bool {
	select {
	case <-i.instance.Died():
		return true
	default:
		return false
	}
}

// generation returns the generation of the workers that accept connections.
func (i *installation) generation() int {
	newest := 0
	for _, worker := range i.workers.Alive() {
		newest = max(newest, worker.Generation)
	}
	return newest
}

// oneGeneration reports whether all workers that accept connections are of one generation.
func oneGeneration(alive []probe.Worker) bool {
	generation := -1
	for _, worker := range alive {
		if worker.State != event.Active {
			continue
		}
		if generation >= 0 && worker.Generation != generation {
			return false
		}
		generation = worker.Generation
	}
	return generation >= 0
}

// visitor returns a client that sends each request over a new connection to nginx.
func (i *installation) visitor() *http.Client {
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return i.dial(ctx)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answers returns when the sentinel's pod answers at its host, over several new connections in a
// row.
func (i *installation) answers(ctx context.Context) error {
	client := i.visitor()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	seen, last := 0, errors.New("none yet")
	for {
		got, err := i.ask(ctx, client)
		switch {
		case err == nil && got == i.pod():
			if seen++; seen == steady {
				return nil
			}
			continue
		case err == nil:
			last = fmt.Errorf("from pod %s", got)
		case ctx.Err() == nil:
			last = err
		}
		seen = 0
		select {
		case <-ticker.C:
		case <-i.instance.Died():
			return i.instance.Err()
		case <-ctx.Done():
			return fmt.Errorf("the controller does not serve the last change: %w; the last answer: %w", context.Cause(ctx), last)
		}
	}
}

// dial connects to nginx, and sends a PROXY header if the controller's ConfigMap asks for one.
func (i *installation) dial(ctx context.Context) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", i.instance.Address().String())
	if err != nil || i.config["use-proxy-protocol"] != "true" {
		return connection, err
	}
	header := proxyproto.HeaderProxyFromAddrs(1, connection.LocalAddr(), connection.RemoteAddr())
	if _, err := header.WriteTo(connection); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return connection, nil
}

// ask sends a request to the sentinel and returns the pod that answers.
func (i *installation) ask(ctx context.Context, client *http.Client) (pod string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.host()+"/", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	if pod := response.Header.Get(backend.PodHeader); pod != "" {
		return pod, nil
	}
	return "", fmt.Errorf("%s without the name of a pod", response.Status)
}

// endpoints returns the EndpointSlice of a service with these pods.
func endpoints(namespace, service string, ports []discoveryv1.EndpointPort, pods ...backend.Pod) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: service,
			Labels: map[string]string{discoveryv1.LabelServiceName: service, discoveryv1.LabelManagedBy: "windtunnel.dev"},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{},
		Ports:       ports,
	}
	for _, pod := range pods {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{pod.Addr().Addr().String()},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true), Serving: new(true)},
		})
	}
	return slice
}
