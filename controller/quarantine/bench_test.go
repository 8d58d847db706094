package quarantine

import (
	"fmt"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkNothingRejected measures the cost of the quarantine per sync if nginx rejects nothing.
func BenchmarkNothingRejected(b *testing.B) {
	for _, n := range []int{100, 1000, 5000, 20000} {
		b.Run(fmt.Sprintf("ingresses=%d", n), func(b *testing.B) {
			var all []*networkingv1.Ingress
			for i := range n {
				all = append(all, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%d", i)}})
			}
			cluster := clusterOf(all...)
			q := Quarantine{ConfigMap: configMap}
			never := Tester{Clock: time.Now}
			b.ReportAllocs()
			for b.Loop() {
				q.Follow(cluster, "", time.Now())
				served, _ := q.Serve(cluster)
				q.Accepted(served)
				if _, err := q.Bisect(b.Context(), cluster, never); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
