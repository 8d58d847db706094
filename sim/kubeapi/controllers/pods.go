package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// What the controllers that own pods have in common: they see changes of their pods, and create
// and delete them with an event.

// podWatch names the keys that a controller syncs when a pod changes.
type podWatch struct {
	queue *loop
	keys  func(pod metav1.Object) []string
}

// watchPods queues in l the keys that keys returns for each changed pod. All controllers share one
// handler of the informer, because every handler costs time and memory for each pod.
func (c *cluster) watchPods(l *loop, keys func(pod metav1.Object) []string) {
	c.podWatches = append(c.podWatches, podWatch{l, keys})
	if len(c.podWatches) > 1 {
		return
	}
	add := func(obj any) {
		for _, w := range c.podWatches {
			for _, key := range keysOf(obj, w.keys) {
				w.queue.queue.Add(key)
			}
		}
	}
	c.informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(old, obj any) { add(old); add(obj) },
		DeleteFunc: add,
	})
}

// owner is an object that controls pods.
type owner interface {
	metav1.Object
	runtime.Object
}

// podOf returns a pod of a template, without a name.
func podOf(of owner, kind schema.GroupVersionKind, template *corev1.PodTemplateSpec) *corev1.Pod {
	template = template.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: of.GetName() + "-", Namespace: of.GetNamespace(),
			Labels: template.Labels, Annotations: template.Annotations, Finalizers: template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, kind)},
		},
		Spec: template.Spec,
	}
}

// createPod creates a pod, and records an event for its owner.
func (c *cluster) createPod(ctx context.Context, of owner, pod *corev1.Pod) error {
	made, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case err == nil:
		c.events.Event(of, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: "+made.Name)
	case !transient(err):
		c.events.Eventf(of, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
	}
	return err
}

// deletePod deletes a pod that still has the same UID, and records an event for its owner.
func (c *cluster) deletePod(ctx context.Context, of owner, pod *corev1.Pod) error {
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if err == nil {
		c.events.Event(of, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: "+pod.Name)
	}
	if apierrors.IsConflict(err) {
		return nil // the name now belongs to another pod
	}
	return ignoreNotFound(err)
}

// livePods returns the pods that an owner controls, from the API server. The cache may not show
// the pods yet that an earlier sync created.
func (c *cluster) livePods(ctx context.Context, of owner, selector labels.Selector) ([]*corev1.Pod, error) {
	list, err := c.client.CoreV1().Pods(of.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	return controlledBy(of, pods), nil
}

// controlledBy returns the pods that an owner controls.
func controlledBy(of owner, pods []*corev1.Pod) []*corev1.Pod {
	var own []*corev1.Pod
	for _, pod := range pods {
		if metav1.IsControlledBy(pod, of) {
			own = append(own, pod)
		}
	}
	return own
}

// activeOf returns the pods that neither have ended nor are terminating.
func activeOf(pods []*corev1.Pod) []*corev1.Pod {
	var active []*corev1.Pod
	for _, pod := range pods {
		if isActive(pod) {
			active = append(active, pod)
		}
	}
	return active
}
