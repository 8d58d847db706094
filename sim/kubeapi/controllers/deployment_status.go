package controllers

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeStatus writes the replica counts and the conditions of a Deployment, which kubectl rollout
// status reads.
func (d *deployment) writeStatus(ctx context.Context, r *rollout) error {
	was := r.Status.DeepCopy()
	status := &r.Status
	counts := appsv1.DeploymentStatus{ObservedGeneration: r.Generation, Conditions: status.Conditions, CollisionCount: status.CollisionCount}
	for _, rs := range r.all() {
		counts.Replicas += rs.Status.Replicas
		counts.ReadyReplicas += rs.Status.ReadyReplicas
		counts.AvailableReplicas += rs.Status.AvailableReplicas
	}
	if r.next != nil {
		counts.UpdatedReplicas = r.next.Status.Replicas
	}
	counts.UnavailableReplicas = max(0, wantedOf(r.all())-counts.AvailableReplicas)
	progressed := counts.UpdatedReplicas > was.UpdatedReplicas || counts.ReadyReplicas > was.ReadyReplicas ||
		counts.AvailableReplicas > was.AvailableReplicas || counts.Replicas-counts.UpdatedReplicas < was.Replicas-was.UpdatedReplicas
	*status = counts
	r.setAvailable()
	d.setProgressing(r, progressed)
	if apiequality.Semantic.DeepEqual(was, status) {
		return nil
	}
	_, err := d.client.AppsV1().Deployments(r.Namespace).UpdateStatus(ctx, r.Deployment, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

func (r *rollout) setAvailable() {
	unavailable := int32(0)
	if r.Spec.Strategy.RollingUpdate != nil {
		_, unavailable = rollingLimits(r)
	}
	if r.Status.AvailableReplicas >= *r.Spec.Replicas-unavailable {
		r.set(appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.set(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
}

func (d *deployment) setProgressing(r *rollout, progressed bool) {
	now := r.condition(appsv1.DeploymentProgressing)
	switch {
	case r.Spec.Paused:
		r.set(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	case r.next == nil:
	case r.complete():
		r.set(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable",
			fmt.Sprintf("ReplicaSet %q has successfully progressed.", r.next.Name))
	case now != nil && now.Reason == "NewReplicaSetAvailable" && r.Status.Replicas == r.Status.UpdatedReplicas:
		// After a complete rollout, a failing pod or a higher replica count does not start a new
		// one.
	case progressed || now == nil || now.Reason == "NewReplicaSetAvailable" || now.Reason == "DeploymentPaused":
		r.set(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", fmt.Sprintf("ReplicaSet %q is progressing.", r.next.Name))
		r.condition(appsv1.DeploymentProgressing).LastUpdateTime = metav1.Now()
		d.after(r, r.deadline())
	default:
		if left := time.Until(now.LastUpdateTime.Add(r.deadline())); left > 0 {
			d.after(r, left)
			return
		}
		r.set(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded",
			fmt.Sprintf("ReplicaSet %q has timed out progressing.", r.next.Name))
	}
}

func (r *rollout) deadline() time.Duration {
	return time.Duration(*r.Spec.ProgressDeadlineSeconds) * time.Second
}

func (r *rollout) condition(kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == kind {
			return &r.Status.Conditions[i]
		}
	}
	return nil
}

// set writes a condition. It updates the condition's times only if the condition changes.
func (r *rollout) set(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	c := r.condition(kind)
	if c == nil {
		r.Status.Conditions = append(r.Status.Conditions, appsv1.DeploymentCondition{Type: kind})
		c = r.condition(kind)
	}
	if c.Status == status && c.Reason == reason && c.Message == message {
		return
	}
	c.LastUpdateTime = metav1.Now()
	if c.Status != status {
		c.LastTransitionTime = c.LastUpdateTime
	}
	c.Status, c.Reason, c.Message = status, reason, message
}
