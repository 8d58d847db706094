package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The controller follows a ConfigMap that an annotation names, even if it is created later.
func TestHeadersOfAConfigMapAreFollowed(t *testing.T) {
	t.Parallel()
	r := launch(t, true, func(r *running) {
		r.configure(map[string]string{"global-allowed-response-headers": "X-Team"}, r.client.CoreV1().ConfigMaps("default").Update)
		r.deploy("web", serve(t, "127.88.1.1", echo("web")))
		r.route("web", "web.example", "/", "web", "custom-headers", "headers")
	})
	r.log.next("ready")
	if got := r.ask("web.example", "/"); got.StatusCode != 503 {
		r.Fatalf("without its ConfigMap: %s", got.Status)
	}
	headers := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "headers"}, Data: map[string]string{"X-Team": "one"}}
	_, err := r.client.CoreV1().ConfigMaps("default").Create(r.Context(), headers, metav1.CreateOptions{})
	r.must(err)
	r.awaitWanted("web.example", "/", func(a reply) bool { return a.Header.Get("X-Team") == "one" })
	headers.Data["X-Team"] = "two"
	_, err = r.client.CoreV1().ConfigMaps("default").Update(r.Context(), headers, metav1.UpdateOptions{})
	r.must(err)
	r.awaitWanted("web.example", "/", func(a reply) bool { return a.Header.Get("X-Team") == "two" })
}
