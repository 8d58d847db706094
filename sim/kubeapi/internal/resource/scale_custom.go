package resource

import (
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// scalePaths are the paths of the fields of a custom object that a Scale shows.
type scalePaths struct{ specReplicas, statusReplicas, selector []string }

func NewScalePaths(scale *apiextensionsv1.CustomResourceSubresourceScale) *scalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	p := &scalePaths{specReplicas: split(scale.SpecReplicasPath), statusReplicas: split(scale.StatusReplicasPath)}
	if scale.LabelSelectorPath != nil && *scale.LabelSelectorPath != "" {
		p.selector = split(*scale.LabelSelectorPath)
	}
	return p
}

// of returns the Scale of c.
func (p *scalePaths) of(c *object.Custom) *autoscalingv1.Scale {
	want, _, _ := unstructured.NestedInt64(c.Content, p.specReplicas...)
	have, _, _ := unstructured.NestedInt64(c.Content, p.statusReplicas...)
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace, UID: c.UID,
			ResourceVersion: c.ResourceVersion, CreationTimestamp: c.CreationTimestamp},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(want)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(have)},
	}
	if p.selector != nil {
		scale.Status.Selector, _, _ = unstructured.NestedString(c.Content, p.selector...)
	}
	return scale
}

// Problems validates the counts of c; p may be nil.
func (p *scalePaths) Problems(c *object.Custom) (problems field.ErrorList) {
	if p == nil {
		return nil
	}
	for _, at := range [][]string{p.specReplicas, p.statusReplicas} {
		n, _, err := unstructured.NestedInt64(c.Content, at...)
		switch path := field.NewPath("." + strings.Join(at, ".")); {
		case err != nil:
			problems = append(problems, field.Invalid(path, n, err.Error()))
		case n < 0:
			problems = append(problems, field.Invalid(path, n, "should be a non-negative integer"))
		}
	}
	return problems
}

func (p *scalePaths) set(c *object.Custom, replicas int32) error {
	return unstructured.SetNestedField(c.Content, int64(replicas), p.specReplicas...)
}
