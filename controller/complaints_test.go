package controller_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/controller"
)

// If a dictionary is too small, an Event reports it, and all workers, including new ones, serve the
// previous backends. A larger dictionary resolves the problem.
func TestFullDictionaryIsReported(t *testing.T) {
	t.Parallel()
	one := pod(t, "127.0.42.1", "one")
	r := launchAs(t, true, func(c *controller.Config) {
		c.Retry = wait.Backoff{Steps: 2, Duration: 10 * time.Millisecond}
	}, func(r *running) {
		r.configure(map[string]string{"lua-shared-dicts": "configuration_data: 64k"}, r.client.CoreV1().ConfigMaps("default").Update)
		r.service(one)
	})
	r.log.next("ready")
	r.awaitAnswer("one")

	more := slice(&net.TCPAddr{IP: one.IP, Port: one.Port})
	more.Name = "web-more"
	for i := range 900 {
		more.Endpoints = append(more.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("127.143.%d.%d", i/250, i%250+1)}})
	}
	more.Endpoints = append(more.Endpoints[1:], more.Endpoints[0])
	_, err := r.client.DiscoveryV1().EndpointSlices("default").Create(r.Context(), more, metav1.CreateOptions{})
	r.must(err)
	more.Name = "web-even-more"
	for i := range more.Endpoints[:900] {
		more.Endpoints[i].Addresses[0] = strings.Replace(more.Endpoints[i].Addresses[0], "127.143.", "127.144.", 1)
	}
	_, err = r.client.DiscoveryV1().EndpointSlices("default").Create(r.Context(), more, metav1.CreateOptions{})
	r.must(err)

	r.awaitSync(failed)
	event := r.awaitEvent("Pod", "DynamicConfigurationFailed")
	if event.Type != corev1.EventTypeWarning || !strings.Contains(event.Message, "lua-shared-dicts") || !strings.Contains(event.Message, "make configuration_data larger") {
		t.Errorf("got %+v", event)
	}
	r.awaitMetrics("complaints", func(text string) bool {
		return strings.Contains(text, "nginx_ingress_controller_dynamic_complaints_total{") && !strings.Contains(text, `dynamic_complaints_total{controller_class="",controller_namespace="default",controller_pod="controller"} 0`)
	})
	r.awaitAnswer("one")

	r.configure(map[string]string{"lua-shared-dicts": "configuration_data: 2M"}, r.client.CoreV1().ConfigMaps("default").Update)
	r.awaitSync(func(sync record) bool { return sync.Reload && sync.Error == "" && len(sync.Posts) == 1 })
}
