package controller_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
)

// others creates n services besides web, without endpoints.
func (r *running) others(n int) {
	class, prefix := "nginx", networkingv1.PathTypePrefix
	for i := range n {
		meta := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("other-", i)}
		service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		ingress := &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{IngressClassName: &class, Rules: []networkingv1.IngressRule{{
			Host: meta.Name + ".example",
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: "/", PathType: &prefix,
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: meta.Name, Port: networkingv1.ServiceBackendPort{Number: 80}}},
			}}}},
		}}}}
		_, err := r.client.CoreV1().Services("default").Create(r.Context(), service, metav1.CreateOptions{})
		r.must(err)
		_, err = r.client.NetworkingV1().Ingresses("default").Create(r.Context(), ingress, metav1.CreateOptions{})
		r.must(err)
	}
}

func TestOnlyChangesArePushed(t *testing.T) {
	t.Parallel()
	first := pod(t, "127.0.41.1", "first")
	r := launchAs(t, true, func(c *controller.Config) {
		c.Options.BackendsPush, c.Options.BackendsDelta = true, true
	}, func(r *running) { r.others(20); r.service(first) })
	r.awaitAnswer("first")
	whole := r.awaitSync(posted).Posts[0]
	for i := range 3 {
		name := fmt.Sprint("moved-", i)
		r.move(pod(t, fmt.Sprint("127.0.41.", i+2), name))
		r.awaitAnswer(name)
		sync := r.awaitSync(posted)
		if post := sync.Posts[0]; sync.Reload || len(sync.Posts) != 1 || post.Path != "/configuration/backends/delta" || post.Bytes*5 > whole.Bytes {
			t.Errorf("a moved pod: reload %v, posts %+v; all backends are %d bytes", sync.Reload, sync.Posts, whole.Bytes)
		}
	}
}

// withoutPolls is our Lua code with polls once an hour, so that workers only hear announcements.
type withoutPolls struct{ fs.FS }

func (w withoutPolls) Open(name string) (fs.File, error) {
	if name != "balancer.lua" {
		return w.FS.Open(name)
	}
	text, err := fs.ReadFile(w.FS, name)
	if err != nil {
		return nil, err
	}
	rare := strings.Replace(string(text), "BACKENDS_SYNC_INTERVAL = 1\n", "BACKENDS_SYNC_INTERVAL = 3600\n", 1)
	return fstest.MapFS{name: {Data: []byte(rare), Mode: 0o644}}.Open(name)
}

func TestChangesAreAnnounced(t *testing.T) {
	t.Parallel()
	r := launchAs(t, true, func(c *controller.Config) {
		c.Lua, c.Options.BackendsPush = withoutPolls{c.Lua}, true
	}, func(r *running) { r.service(pod(t, "127.0.44.1", "first")) })
	r.awaitAnswer("first")
	for i := range 3 {
		name := fmt.Sprint("moved-", i)
		r.move(pod(t, fmt.Sprint("127.0.44.", i+2), name))
		r.awaitAnswer(name)
	}
}
