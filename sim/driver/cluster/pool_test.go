package cluster

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/backend/pool"
)

// A subject whose pool runs but cannot be opened leaves nothing behind.
func TestPoolThatCannotBeOpened(t *testing.T) {
	s := newSite(t)
	d := s.open(t, s.options())
	s.refuses = func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/pods") && strings.HasPrefix(r.URL.Query().Get("labelSelector"), pool.PoolLabel)
	}
	if _, err := s.prepare(t, d); err == nil || !strings.Contains(err.Error(), "looking for the pods of the pool") {
		t.Errorf("got %v", err)
	}
	left, err := s.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("left are %v, %v", left.Items, err)
	}
}
