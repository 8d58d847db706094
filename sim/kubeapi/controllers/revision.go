package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// Annotations of a Deployment's history, which kubectl reads.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas"
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"
)

// ensureNext creates the ReplicaSet of the Deployment's template. If an equal template already has
// a ReplicaSet, ensureNext gives that the newest revision and the Deployment's minReadySeconds.
func (d *deployment) ensureNext(ctx context.Context, r *rollout) error {
	newest := int64(0)
	for _, rs := range r.old {
		newest = max(newest, revisionOf(rs))
	}
	revision := strconv.FormatInt(newest+1, 10)
	var err error
	if r.next == nil {
		r.next, err = d.createReplicaSet(ctx, r, revision)
	} else {
		changed := copyAnnotations(r.next, r.Deployment)
		if revisionOf(r.next) <= newest {
			r.next.Annotations[revisionAnnotation], changed = revision, true
		}
		if r.next.Spec.MinReadySeconds != r.Spec.MinReadySeconds {
			r.next.Spec.MinReadySeconds, changed = r.Spec.MinReadySeconds, true
		}
		if changed {
			r.next, err = d.client.AppsV1().ReplicaSets(r.Namespace).Update(ctx, r.next, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		return err
	}
	return d.recordRevision(ctx, r)
}

// recordRevision copies the revision of r.next to the Deployment.
func (d *deployment) recordRevision(ctx context.Context, r *rollout) error {
	revision := r.next.Annotations[revisionAnnotation]
	if r.Annotations[revisionAnnotation] == revision {
		return nil
	}
	metav1.SetMetaDataAnnotation(&r.ObjectMeta, revisionAnnotation, revision)
	written, err := d.client.AppsV1().Deployments(r.Namespace).Update(ctx, r.Deployment, metav1.UpdateOptions{})
	if err == nil {
		r.Deployment = written
	}
	return err
}

// createReplicaSet creates the ReplicaSet of the template. Its name contains a hash of the
// template: if the caches do not show a ReplicaSet that exists, creating it again fails.
func (d *deployment) createReplicaSet(ctx context.Context, r *rollout, revision string) (*appsv1.ReplicaSet, error) {
	hash := templateHash(&r.Spec.Template, r.Status.CollisionCount)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: r.Name + "-" + hash, Namespace: r.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r.Deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32), MinReadySeconds: r.Spec.MinReadySeconds,
			Selector: r.Spec.Selector.DeepCopy(), Template: *r.Spec.Template.DeepCopy(),
		},
	}
	rs.Labels = withHash(r.Spec.Template.Labels, hash)
	rs.Spec.Template.Labels = withHash(r.Spec.Template.Labels, hash)
	rs.Spec.Selector.MatchLabels = withHash(r.Spec.Selector.MatchLabels, hash)
	copyAnnotations(rs, r.Deployment)
	rs.Annotations[revisionAnnotation] = revision
	setDesiredReplicas(rs, r.Deployment)
	made, err := d.client.AppsV1().ReplicaSets(r.Namespace).Create(ctx, rs, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil, d.resolveCollision(ctx, r, rs.Name, err)
	}
	return made, err
}

// resolveCollision increases the collision count if the existing ReplicaSet with this name has
// another template. The next attempt then uses another name.
func (d *deployment) resolveCollision(ctx context.Context, r *rollout, name string, inTheWay error) error {
	rs, err := d.client.AppsV1().ReplicaSets(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(rs, r.Deployment) && sameTemplate(&rs.Spec.Template, &r.Spec.Template) {
		return inTheWay
	}
	if r.Status.CollisionCount == nil {
		r.Status.CollisionCount = new(int32)
	}
	*r.Status.CollisionCount++
	if _, err := d.client.AppsV1().Deployments(r.Namespace).UpdateStatus(ctx, r.Deployment, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return inTheWay
}

func templateHash(template *corev1.PodTemplateSpec, collisions *int32) string {
	text, err := json.Marshal(template)
	if err != nil {
		panic(fmt.Sprintf("controllers: a pod template is not JSON: %v", err)) // it was decoded from JSON
	}
	h := fnv.New32a()
	h.Write(text)
	if collisions != nil {
		fmt.Fprint(h, *collisions)
	}
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

func withHash(labels map[string]string, hash string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	return labels
}

// sameTemplate compares the template of a ReplicaSet, without its hash label, to a Deployment's.
func sameTemplate(of, want *corev1.PodTemplateSpec) bool {
	of, want = of.DeepCopy(), want.DeepCopy()
	delete(of.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(want.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return apiequality.Semantic.DeepEqual(of, want)
}

func revisionOf(rs *appsv1.ReplicaSet) int64 {
	n, _ := strconv.ParseInt(rs.Annotations[revisionAnnotation], 10, 64) // 0 if it has none
	return n
}

// copyAnnotations copies the annotations of a Deployment, including the change cause, to a
// ReplicaSet. It reports whether that changed any annotation.
func copyAnnotations(rs *appsv1.ReplicaSet, d *appsv1.Deployment) (changed bool) {
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	for name, value := range d.Annotations {
		switch name {
		case revisionAnnotation, desiredAnnotation, maxAnnotation, corev1.LastAppliedConfigAnnotation:
			continue
		}
		if old, ok := rs.Annotations[name]; !ok || old != value {
			rs.Annotations[name], changed = value, true
		}
	}
	return changed
}

func setDesiredReplicas(rs *appsv1.ReplicaSet, d *appsv1.Deployment) {
	surge := int32(0)
	if d.Spec.Strategy.RollingUpdate != nil {
		surge, _ = rollingLimits(&rollout{Deployment: d})
	}
	metav1.SetMetaDataAnnotation(&rs.ObjectMeta, desiredAnnotation, fmt.Sprint(*d.Spec.Replicas))
	metav1.SetMetaDataAnnotation(&rs.ObjectMeta, maxAnnotation, fmt.Sprint(*d.Spec.Replicas+surge))
}
