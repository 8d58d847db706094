package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLimitRanges(t *testing.T) {
	of := func(cpu, memory string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for name, value := range map[corev1.ResourceName]string{"cpu": cpu, "memory": memory} {
			if value != "" {
				list[name] = q(value)
			}
		}
		return list
	}
	const container, pod = corev1.LimitTypeContainer, corev1.LimitTypePod
	for name, test := range map[string]struct {
		items             []corev1.LimitRangeItem
		problems, notices []string // their ends
	}{
		"a class of volumes": {items: []corev1.LimitRangeItem{{Type: corev1.LimitTypePersistentVolumeClaim, Max: of("1m", "")}}},
		"requests alone":     {items: []corev1.LimitRangeItem{{Type: container, DefaultRequest: of("1", "1Gi"), Min: of("5m", "16Mi")}}},
		"default limits": {
			items:   []corev1.LimitRangeItem{{Type: container, Default: of("500m", "1Gi")}},
			notices: []string{"each container to 500m of cpu: the figures are those under this limit", "each container to 1Gi of memory: the figures are those under this limit"},
		},
		"a maximum is a default": {
			items:    []corev1.LimitRangeItem{{Type: container, Max: of("60m", "")}},
			notices:  []string{"each container to 60m of cpu: the figures are those under this limit"},
			problems: []string{"limits the container controller of controller and observer to 60m of cpu, and it requests 100m", "limits the container traffic of traffic pod to 60m of cpu, and it requests 100m"},
		},
		"a minimum": {
			items: []corev1.LimitRangeItem{{Type: container, Min: of("10m", "32Mi")}},
			problems: []string{
				"requires that the container pool of simulated pod requests 10m of cpu, and it requests 5m",
				"requires that the container pool of simulated pod requests 32Mi of memory, and it requests 16Mi",
			},
		},
		"a maximum of pods": {
			items: []corev1.LimitRangeItem{{Type: pod, Max: of("1", "")}},
			problems: []string{
				"requires that the pod of controller and observer has a limit of cpu, and it has none", "requires that the pod of simulated pod has a limit of cpu, and it has none",
				"requires that the pod of traffic pod has a limit of cpu, and it has none",
			},
		},
		"a maximum of pods, with defaults": {
			items:    []corev1.LimitRangeItem{{Type: pod, Max: of("300m", "")}, {Type: container, Default: of("200m", "")}},
			notices:  []string{"each container to 200m of cpu: the figures are those under this limit"},
			problems: []string{"allows the pod of controller and observer a limit of 300m of cpu, and it has 400m"},
		},
		"a ratio": {
			items:    []corev1.LimitRangeItem{{Type: container, Default: of("400m", ""), MaxLimitRequestRatio: of("8", "")}},
			notices:  []string{"each container to 400m of cpu: the figures are those under this limit"},
			problems: []string{"allows the container pool of simulated pod a limit of cpu that is 8 times its request; they are 400m and 5m"},
		},
	} {
		problems, notices := subjectDemands.exceedsRanges([]corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.LimitRangeSpec{Limits: test.items}}})
		for _, one := range []struct {
			what      string
			got, want []string
		}{{"problems", problems, test.problems}, {"notices", notices, test.notices}} {
			if !slices.EqualFunc(one.got, one.want, func(got, want string) bool {
				return strings.HasPrefix(got, "the LimitRange team ") && strings.HasSuffix(got, want)
			}) {
				t.Errorf("%s: %s %q, want %q", name, one.what, one.got, one.want)
			}
		}
	}
}

// A limit that the scenario gives the controller counts instead of the default.
func TestOwnLimitCounts(t *testing.T) {
	controller := requesting("controller", "100m", "128Mi")
	controller.limits = corev1.ResourceList{"cpu": q("2")}
	all := demands{{what: "controller", pods: 1, containers: []claim{controller}}}
	ranges := []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": q("1")}}}}}}
	problems, _ := all.exceedsRanges(ranges)
	if want := []string{"the LimitRange  allows the container controller of controller a limit of 1 of cpu, and it has 2"}; !slices.Equal(problems, want) {
		t.Errorf("%q, want %q", problems, want)
	}
}
