package kubeapi

import (
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// The scale subresource shows a workload as what an autoscaler and kubectl scale
// care about: how many replicas it wants and has.

const scaleSubresource = "scale"

// scales is the kind of the scale subresource. It is in no table: nothing is stored as one.
var scales = &resource{group: "autoscaling", version: "v1", name: "scales", kind: "Scale"}

// workload is the part of a kind with a scale that a Scale shows.
type workload struct {
	meta     *metav1.ObjectMeta
	selector *metav1.LabelSelector
	wanted   **int32 // spec.replicas
	has      int32
}

// workloadOf relies on all these kinds having the same names for the same things, but for
// the selector of the oldest, which is nothing but labels.
func workloadOf(obj runtime.Object) workload {
	spec, status := reflect.ValueOf(obj).Elem().FieldByName("Spec"), statusOf(obj)
	return workload{
		meta:     metadataOf(obj),
		selector: selectorOf(spec.FieldByName("Selector").Interface()),
		wanted:   spec.FieldByName("Replicas").Addr().Interface().(**int32),
		has:      status.FieldByName("Replicas").Interface().(int32),
	}
}

func selectorOf(value any) *metav1.LabelSelector {
	if labels, old := value.(map[string]string); old {
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	return value.(*metav1.LabelSelector)
}

// scaleOf shows obj as a Scale.
func (res *resource) scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	if c, ok := obj.(*customObject); ok {
		return res.custom.scale.of(c), nil
	}
	w := workloadOf(obj)
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: w.meta.Name, Namespace: w.meta.Namespace, UID: w.meta.UID,
			ResourceVersion: w.meta.ResourceVersion, CreationTimestamp: w.meta.CreationTimestamp},
		Spec:   autoscalingv1.ScaleSpec{Replicas: 1},
		Status: autoscalingv1.ScaleStatus{Replicas: w.has, Selector: selector.String()},
	}
	if *w.wanted != nil {
		scale.Spec.Replicas = **w.wanted
	}
	return scale, nil
}

// setReplicas gives obj the replicas that its Scale wants.
func (res *resource) setReplicas(obj runtime.Object, replicas int32) error {
	if c, ok := obj.(*customObject); ok {
		return res.custom.scale.set(c, replicas)
	}
	*workloadOf(obj).wanted = &replicas
	return nil
}

// replicasPath is the field that a Scale sets.
func (res *resource) replicasPath() fieldpath.Path {
	var path fieldpath.Path
	names := []string{"spec", "replicas"}
	if res.custom != nil {
		names = res.custom.scale.specReplicas
	}
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}
