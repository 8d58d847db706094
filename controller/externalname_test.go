package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller"
)

// A service of type ExternalName works as a default backend once DNS knows its address.
func TestExternalNameAsDefaultBackend(t *testing.T) {
	t.Parallel()
	names := serveNames(t, map[string]string{"all.test.": "127.88.7.1", "errors.test.": "127.88.7.2"})
	all, errors := serve(t, "127.88.7.1", echo("all")), serve(t, "127.88.7.2", echo("errors"))
	r := launchAs(t, true, func(c *controller.Config) {
		c.Lua = names.lua(t)
		c.Options.DefaultBackendService = types.NamespacedName{Namespace: "default", Name: "all"}
	}, func(r *running) {
		for name, port := range map[string]int{"all": all.Port, "errors": errors.Port} {
			r.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeExternalName, ExternalName: name + ".test", Ports: []corev1.ServicePort{{Port: int32(port)}}}})
		}
		r.deploy("pod", serve(t, "127.88.7.3", echo("pod")))
		r.deploy("nobody")
		r.route("pod", "pod.example", "/", "pod", "custom-http-errors", "404", "default-backend", "errors")
		r.route("nobody", "nobody.example", "/", "nobody", "default-backend", "errors")
	})
	r.log.next("ready")
	for _, asked := range []struct{ host, path, by string }{
		{"unknown.example", "/", "all"},
		{"pod.example", "/", "pod"},
		{"pod.example", "/status/404", "errors"},
		{"nobody.example", "/", "errors"},
	} {
		r.awaitWanted(asked.host, asked.path, func(a reply) bool { return a.pod() == asked.by })
	}
}
