package kubeapi

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

var deploymentPrinter = print("Name Ready Up-to-date Available Age", func(d *appsv1.Deployment, now time.Time) []any {
	return []any{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, wanted(d.Spec.Replicas)),
		d.Status.UpdatedReplicas, d.Status.AvailableReplicas, age(d, now)}
})

var replicaSetPrinter = print("Name Desired Current Ready Age", func(rs *appsv1.ReplicaSet, now time.Time) []any {
	return []any{rs.Name, wanted(rs.Spec.Replicas), rs.Status.Replicas, rs.Status.ReadyReplicas, age(rs, now)}
})

// wanted is the number of replicas asked for: one if nobody said.
func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}
