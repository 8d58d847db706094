package checkup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
)

// namespace is that of the objects of a checkup.
const namespace = "checkup"

// populate creates a service with a pod, and a host that leads to it.
func (c *checkup) populate(ctx context.Context) (err error) {
	if c.client, err = cluster.New(c.instance.API()); err != nil {
		return err
	}
	c.client = driver.Routed(c.client, c.instance)
	c.service = corpus.Service{Namespace: namespace, Name: "web", Port: corpus.DefaultPort}
	if err := c.put(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&networkingv1.IngressClass{
			ObjectMeta: metav1.ObjectMeta{Name: corpus.IngressClass},
			Spec:       networkingv1.IngressClassSpec{Controller: c.instance.Setup().IngressClass.Controller},
		},
		c.service.Object(),
	); err != nil {
		return err
	}
	if err := c.replacePod(ctx); err != nil {
		return err
	}
	return c.addHost(ctx)
}

// put creates or replaces objects.
func (c *checkup) put(ctx context.Context, objects ...runtime.Object) error {
	for _, typed := range objects {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if _, err := c.client.Put(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// replacePod starts another pod of the service, and ends the one before it once the endpoints no
// longer name it.
func (c *checkup) replacePod(ctx context.Context) error {
	before := c.pod
	c.turn++
	pod, err := c.instance.Pods().Start(c.podName(), c.service.Key())
	if err != nil {
		return err
	}
	if err := pod.Ready(); err != nil {
		return err
	}
	c.pod, c.service.Port = pod, int32(pod.Addr().Port())
	members := []corpus.Member{{Pod: fmt.Sprint("web-", c.turn), Address: pod.Addr().Addr(), Serving: true}}
	if err := c.put(ctx, corpus.Slice(c.service, members)); err != nil {
		return err
	}
	if before != nil {
		before.Terminate(2 * time.Second)
	}
	return nil
}

func (c *checkup) podName() string { return fmt.Sprintf("%s/web-%d", namespace, c.turn) }

// addHost creates an ingress for a new host.
func (c *checkup) addHost(ctx context.Context) error {
	c.hosts++
	ingress := corpus.Ingress{
		Name: fmt.Sprint("web-", c.hosts), Host: c.host(c.hosts), Paths: []corpus.Path{{Prefix: "/", Service: c.service.Name}},
	}
	return c.put(ctx, ingress.Object(namespace))
}

func (c *checkup) host(n int) string { return fmt.Sprintf("host-%d.checkup.example", n) }

// answers waits until the service's pod answers at a host, over new connections. It returns the time that
// this took.
func (c *checkup) answers(ctx context.Context, host string) (after time.Duration, err error) {
	began := time.Now()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", c.instance.Address().String())
		},
	}}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	last := errors.New("none yet")
	for {
		err := c.ask(ctx, client, host)
		switch {
		case err == nil:
			return time.Since(began), nil
		case ctx.Err() == nil: // otherwise the end of ctx cut the request off
			last = err
		}
		select {
		case <-ticker.C:
		case <-c.instance.Died():
			return 0, c.instance.Err()
		case <-ctx.Done():
			return 0, fmt.Errorf("%s: %w; the last answer: %w", host, context.Cause(ctx), last)
		}
	}
}

// ask requests a host once. It returns nil if the service's current pod answers.
func (c *checkup) ask(ctx context.Context, client *http.Client, host string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	if pod := response.Header.Get(backend.PodHeader); pod != c.podName() {
		return fmt.Errorf("%s from %s, want %s", response.Status, cmp.Or(pod, "no pod"), c.podName())
	}
	return nil
}
