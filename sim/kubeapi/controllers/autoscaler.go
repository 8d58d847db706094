package controllers

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/utils/ptr"
)

// autoscaleInterval is the interval at which each autoscaler is checked, as in Kubernetes.
const autoscaleInterval = 15 * time.Second

// autoscaler maintains HorizontalPodAutoscalers as in a cluster without a metrics server: it keeps
// the replicas between the minimum and the maximum, and reports that it cannot read metrics.
type autoscaler struct {
	*cluster
	queue  *loop
	all    autoscalinglisters.HorizontalPodAutoscalerLister
	mapper *restmapper.DeferredDiscoveryRESTMapper // asks the API server when the first autoscaler needs it
	scales scale.ScalesGetter
}

func newAutoscaler(c *cluster) (*loop, error) {
	informer := c.informers.Autoscaling().V2().HorizontalPodAutoscalers()
	a := &autoscaler{cluster: c, all: informer.Lister(), mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))}
	a.scales = scale.New(c.client.Discovery().RESTClient(), a.mapper, legacyPath, scale.NewDiscoveryScaleKindResolver(c.client.Discovery()))
	l := newLoop(a.sync)
	l.watch(informer.Informer(), ownKey)
	a.queue = l
	return l, nil
}

func legacyPath(kind schema.GroupVersionKind) string {
	if kind.Group == "" {
		return "/api"
	}
	return "/apis"
}

func (a *autoscaler) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := a.all.HorizontalPodAutoscalers(namespace).Get(name)
	if err != nil || cached.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	h := cached.DeepCopy()
	h.Status.ObservedGeneration = &h.Generation
	if err := a.reconcile(ctx, h); err != nil {
		return err
	}
	a.queue.queue.AddAfter(key, autoscaleInterval)
	if apiequality.Semantic.DeepEqual(h.Status, cached.Status) {
		return nil
	}
	_, err = a.client.AutoscalingV2().HorizontalPodAutoscalers(namespace).UpdateStatus(ctx, h, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// reconcile scales the target into the limits, and writes the status.
func (a *autoscaler) reconcile(ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler) error {
	target, resource, err := a.target(ctx, h)
	if err != nil {
		a.warn(h, "FailedGetScale", err.Error())
		setAutoscaling(h, autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedGetScale",
			"the HPA controller was unable to get the target's current scale: "+err.Error())
		return nil
	}
	setAutoscaling(h, autoscalingv2.AbleToScale, corev1.ConditionTrue, "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	h.Status.CurrentReplicas, h.Status.DesiredReplicas = target.Status.Replicas, target.Spec.Replicas
	lowest, wanted, reason := ptr.Deref(h.Spec.MinReplicas, 1), target.Spec.Replicas, ""
	switch {
	case wanted == 0 && lowest != 0:
		setAutoscaling(h, autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
		return nil
	case wanted > h.Spec.MaxReplicas:
		wanted, reason = h.Spec.MaxReplicas, "Current number of replicas above Spec.MaxReplicas"
	case wanted < lowest:
		wanted, reason = lowest, "Current number of replicas below Spec.MinReplicas"
	default:
		a.reportMissingMetrics(h)
		return nil
	}
	target.Spec.Replicas = wanted
	if _, err := a.scales.Scales(h.Namespace).Update(ctx, resource, target, metav1.UpdateOptions{}); err != nil {
		return err
	}
	a.events.Eventf(h, corev1.EventTypeNormal, "SuccessfulRescale", "New size: %d; reason: %s", wanted, reason)
	setAutoscaling(h, autoscalingv2.AbleToScale, corev1.ConditionTrue, "SucceededRescale",
		fmt.Sprintf("the HPA controller was able to update the target scale to %d", wanted))
	h.Status.DesiredReplicas, h.Status.LastScaleTime = wanted, ptr.To(metav1.Now())
	return nil
}

// target returns the scale of the object that an autoscaler names.
func (a *autoscaler) target(ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv1.Scale, schema.GroupResource, error) {
	ref := h.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, schema.GroupResource{}, fmt.Errorf("invalid API version in scale target reference: %w", err)
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	mapping, err := a.mapper.RESTMapping(kind, gv.Version)
	if meta.IsNoMatchError(err) { // the kind may be new
		a.mapper.Reset()
		mapping, err = a.mapper.RESTMapping(kind, gv.Version)
	}
	if err != nil {
		return nil, schema.GroupResource{}, err
	}
	resource := mapping.Resource.GroupResource()
	target, err := a.scales.Scales(h.Namespace).Get(ctx, resource, ref.Name, metav1.GetOptions{})
	return target, resource, err
}

func (a *autoscaler) warn(h *autoscalingv2.HorizontalPodAutoscaler, reason, message string) {
	a.events.Event(h, corev1.EventTypeWarning, reason, message)
}

func setAutoscaling(h *autoscalingv2.HorizontalPodAutoscaler, kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason, message string) {
	c := (*autoscalingv2.HorizontalPodAutoscalerCondition)(nil)
	for i := range h.Status.Conditions {
		if h.Status.Conditions[i].Type == kind {
			c = &h.Status.Conditions[i]
		}
	}
	if c == nil {
		h.Status.Conditions = append(h.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind})
		c = &h.Status.Conditions[len(h.Status.Conditions)-1]
	}
	if c.Status != status {
		c.LastTransitionTime = metav1.Now()
	}
	c.Status, c.Reason, c.Message = status, reason, message
}
