package resource

import (
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// The scale subresource shows the replica counts of a workload, wanted and actual, to autoscalers
// and kubectl scale.

const ScaleSubresource = "scale"

// Scales is the kind of the scale subresource. It is not in the table because nothing is stored as
// a Scale.
var Scales = &Resource{Group: "autoscaling", Version: "v1", Name: "scales", Kind: "Scale"}

// workload is the part of an object that a Scale shows.
type workload struct {
	meta     *metav1.ObjectMeta
	selector *metav1.LabelSelector
	wanted   **int32 // spec.replicas
	has      int32
}

// workloadOf relies on all kinds with a scale having the same field names. Only the selector of a
// ReplicationController differs: it is a map of labels.
func workloadOf(obj runtime.Object) workload {
	spec, status := reflect.ValueOf(obj).Elem().FieldByName("Spec"), object.StatusOf(obj)
	return workload{
		meta:     object.Meta(obj),
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

// ScaleOf returns the Scale of obj.
func (res *Resource) ScaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	if c, ok := obj.(*object.Custom); ok {
		return res.Custom.Scale.of(c), nil
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

// SetReplicas sets the wanted replicas of obj.
func (res *Resource) SetReplicas(obj runtime.Object, replicas int32) error {
	if c, ok := obj.(*object.Custom); ok {
		return res.Custom.Scale.set(c, replicas)
	}
	*workloadOf(obj).wanted = &replicas
	return nil
}

// ReplicasPath returns the path of the field that a Scale sets.
func (res *Resource) ReplicasPath() fieldpath.Path {
	var path fieldpath.Path
	names := []string{"spec", "replicas"}
	if res.Custom != nil {
		names = res.Custom.Scale.specReplicas
	}
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}
