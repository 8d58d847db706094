package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

const (
	// livePatience is how long a controller may take to serve a change, by default.
	livePatience = 90 * time.Second
	// steady is the number of consecutive new connections that must show a change before it counts
	// as live, if all of them reach the same controller.
	steady = 3
	// pollInterval is how often each worker of ingress-nginx looks for new endpoints.
	pollInterval = time.Second
)

// sentinel is the name of an ingress, of its service and of their namespace. The run changes them
// after other changes. When this change is served, the controller has processed the earlier ones.
const sentinel = "windtunnel-sentinel"

// errNotServing is part of the error if the controller does not serve a change of the sentinel.
var errNotServing = errors.New(behave.NotServing)

// loudness says whether a change of the sentinel may cause a reload.
type loudness bool

const (
	noisy loudness = false // with a reload, which is faster
	quiet loudness = true  // with endpoints only, so that all reloads have other causes
)

// reachable returns the annotations with which the sentinel answers whatever the ConfigMap says.
// Those of medium risk are used only if they are needed, because the ConfigMap may forbid them.
func reachable(config map[string]string) map[string]string {
	annotations := map[string]string{"ssl-redirect": "false", "enable-global-auth": "false"}
	for key, value := range map[string]string{
		"force-ssl-redirect":     "false",
		"whitelist-source-range": "0.0.0.0/0,::/0",
		"denylist-source-range":  "192.0.2.1/32", // no client's address (RFC 5737)
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

// sentinelNamespace returns the namespace of the sentinel, which the controller watches.
func (i *installation) sentinelNamespace() string {
	if i.shared != nil {
		return i.shared.Namespace()
	}
	return cmp.Or(i.flags["watch-namespace"], sentinel)
}

// createSentinel creates the sentinel where the controller's flags let it be served.
func (i *installation) createSentinel(ctx context.Context) error {
	namespace := metav1.ObjectMeta{Name: i.sentinelNamespace()}
	if selector, err := metav1.ParseToLabelSelector(i.flags["watch-namespace-selector"]); err == nil {
		namespace.Labels = selector.MatchLabels
	}
	class := func(name, controller string) *networkingv1.IngressClass {
		return &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
	}
	plain, err := driver.SetupOf(subject.Subject{Adapter: i.adapter}) // whatever the flags
	if err != nil {
		return err
	}
	if err := i.put(ctx,
		&corev1.Namespace{ObjectMeta: namespace},
		class(corpus.IngressClass, plain.IngressClass.Controller),
		class(sentinel, i.instance.Setup().IngressClass.Controller),
		i.sentinelService(),
	); err != nil {
		return err
	}
	if err := i.rotate(ctx); err != nil {
		return err
	}
	return i.move(ctx)
}

func (i *installation) sentinelService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.sentinelNamespace(), Name: sentinel},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
}

// host returns the sentinel's host. Its domain is the sentinel's namespace, which no other run has.
func (i *installation) host() string {
	return fmt.Sprintf("%s-%d.%s.invalid", sentinel, i.moves, i.sentinelNamespace())
}

// move gives the sentinel another host, which needs a reload.
func (i *installation) move(ctx context.Context) error {
	i.moves++
	return i.put(ctx, i.sentinelIngress())
}

// sentinelClass returns the class of the sentinel's ingress: one of its own, or the class of a shared
// controller.
func (i *installation) sentinelClass() string {
	if i.shared != nil {
		return i.shared.Class()
	}
	return sentinel
}

// sentinelIngress returns the sentinel's ingress, for the controller's current ConfigMap.
func (i *installation) sentinelIngress() *networkingv1.Ingress {
	pathType := networkingv1.PathTypePrefix
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.sentinelNamespace(), Name: sentinel, Annotations: reachable(i.config)},
		Spec: networkingv1.IngressSpec{
			IngressClassName: new(i.sentinelClass()),
			Rules: []networkingv1.IngressRule{{Host: i.host(), IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &pathType, Backend: networkingv1.IngressBackend{
					Service: &networkingv1.IngressServiceBackend{Name: sentinel, Port: networkingv1.ServiceBackendPort{Number: 80}},
				}}},
			}}}},
		},
	}
}

// pod returns the name of the sentinel's pod.
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
// The sentinel changes twice. A controller watches each kind separately, so it may read the first
// change before an earlier change of another kind. The second change is written when the first one
// is served, which is long after everything else. The second change is always one of endpoints: a
// worker that serves it has all endpoints that the controller knew then.
func (i *installation) live(ctx context.Context, how loudness) error {
	ctx, cancel := context.WithTimeoutCause(ctx, i.patience, fmt.Errorf("timed out after %v", i.patience))
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
	if i.workers == nil {
		return nil
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
			if seen++; seen == i.steady {
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
			return fmt.Errorf("%w: %w", errNotServing, i.instance.Err())
		case <-ctx.Done():
			return fmt.Errorf("%w: %w; the last answer: %w", errNotServing, context.Cause(ctx), last)
		}
	}
}

// dial connects to nginx, and sends a PROXY header if the controller's ConfigMap requires one.
func (i *installation) dial(ctx context.Context) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", i.instance.Address().String())
	if err != nil || i.config["use-proxy-protocol"] != "true" {
		return connection, err
	}
	header, err := proxyproto.HeaderProxyFromAddrs(1, connection.LocalAddr(), connection.RemoteAddr()).Format()
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return &announced{Conn: connection, header: header}, nil
}

// announced is a connection that begins with a PROXY header. The header is sent together with the
// request, because an nginx that does not expect it yet immediately answers it with 400, and HTTP
// clients cannot handle an answer that comes before the request.
type announced struct {
	net.Conn
	header []byte // nil once it is sent
}

func (c *announced) Write(b []byte) (int, error) {
	header := c.header
	c.header = nil
	n, err := c.Conn.Write(slices.Concat(header, b))
	return max(0, n-len(header)), err
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
