package controllers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ordinalOf returns the number at the end of a pod's name, or -1.
func ordinalOf(set *appsv1.StatefulSet, pod *corev1.Pod) int {
	digits, ok := strings.CutPrefix(pod.Name, set.Name+"-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return -1
	}
	return n
}

func sortByOrdinal(set *appsv1.StatefulSet, pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(ordinalOf(set, b), ordinalOf(set, a)) })
}

// create creates the i-th wanted pod, and its claims.
func (s *statefulSet) create(ctx context.Context, r *replicas, i int) error {
	pod, err := r.newPod(r.first() + i)
	if err != nil {
		return err
	}
	if err := s.createClaims(ctx, r, pod.Name); err != nil {
		return err
	}
	return s.createPod(ctx, r.StatefulSet, pod)
}

// newPod returns the pod with an ordinal. Below the partition it has the current revision.
func (r *replicas) newPod(ordinal int) (*corev1.Pod, error) {
	revision, template := r.update, &r.Spec.Template
	if r.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && ordinal < r.first()+r.partition() && r.current != r.update {
		var err error
		revision = r.current
		if template, err = templateOf(revision); err != nil {
			return nil, err
		}
	}
	pod := podOf(r.StatefulSet, statefulSetKind, template)
	pod.GenerateName, pod.Name = "", fmt.Sprintf("%s-%d", r.Name, ordinal)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(ordinal)
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision.Name
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, r.Spec.ServiceName
	for _, claim := range r.Spec.VolumeClaimTemplates {
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == claim.Name })
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + pod.Name}}})
	}
	return pod, nil
}

// createClaims creates the missing claims of a pod. They outlive the pod and, unless the set's
// retention policy says otherwise, the set.
func (s *statefulSet) createClaims(ctx context.Context, r *replicas, pod string) error {
	for _, template := range r.Spec.VolumeClaimTemplates {
		claim := template.DeepCopy()
		claim.Namespace, claim.Name = r.Namespace, template.Name+"-"+pod
		claim.Labels = maps.Clone(claim.Labels)
		if claim.Labels == nil {
			claim.Labels = map[string]string{}
		}
		maps.Copy(claim.Labels, r.Spec.Selector.MatchLabels)
		if p := r.Spec.PersistentVolumeClaimRetentionPolicy; p != nil && p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
			claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(r, statefulSetKind)}
		}
		_, err := s.client.CoreV1().PersistentVolumeClaims(r.Namespace).Create(ctx, claim, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// writeStatus writes the counts and revisions that kubectl rollout status reads.
func (s *statefulSet) writeStatus(ctx context.Context, r *replicas) error {
	status := appsv1.StatefulSetStatus{ObservedGeneration: r.Generation, CurrentRevision: r.current.Name, UpdateRevision: r.update.Name,
		CollisionCount: r.Status.CollisionCount, Conditions: r.Status.Conditions}
	if status.CollisionCount == nil {
		status.CollisionCount = new(int32)
	}
	for _, pod := range r.every() {
		status.Replicas++
		if pod.DeletionTimestamp != nil {
			continue
		}
		if isReady(pod) {
			status.ReadyReplicas++
		}
		if s.serves(r, pod) {
			status.AvailableReplicas++
		}
		switch revisionNameOf(pod) {
		case r.update.Name:
			status.UpdatedReplicas++
		case r.current.Name:
			status.CurrentReplicas++
		}
	}
	wanted := ptr.Deref(r.Spec.Replicas, 1)
	rolled := r.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType &&
		status.UpdatedReplicas == wanted && status.ReadyReplicas == wanted && status.Replicas == wanted
	if rolled || r.current == r.update {
		status.CurrentRevision, status.CurrentReplicas = status.UpdateRevision, status.UpdatedReplicas
	}
	if apiequality.Semantic.DeepEqual(status, r.Status) {
		return nil
	}
	r.Status = status
	_, err := s.client.AppsV1().StatefulSets(r.Namespace).UpdateStatus(ctx, r.StatefulSet, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}
