package cluster

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// A limit below what the manifests request lowers the request, and with it the demand.
func TestLimitsLowerTheDemand(t *testing.T) {
	i := &instance{
		driver: &Driver{}, home: home{run: "abc"},
		subject: subject.Subject{Controller: subject.Bundled, Resources: scenario.Resources{CPU: scenario.Quantity{Quantity: q("50m")}}},
	}
	objects, err := i.controllerObjects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if d, ok := object.(*appsv1.Deployment); ok {
			requests, demand := d.Spec.Template.Spec.Containers[0].Resources.Requests, i.demands()[0].containers[0]
			if !equality.Semantic.DeepEqual(requests, demand.requests) {
				t.Errorf("the container requests %v, the demand is %v", requests, demand.requests)
			}
		}
	}
	ranges := []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: q("1")},
	}}}}}
	if problems, _ := i.demands().exceedsRanges(ranges); len(problems) > 0 {
		t.Error(problems)
	}
}
