package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var q = resource.MustParse

var subjectDemands = demands{
	{what: "controller and observer", pods: 1, containers: []claim{requesting("controller", "100m", "128Mi"), requesting("observer", "50m", "64Mi")}},
	{what: "simulated pod", pods: 10, containers: []claim{requesting("pool", "5m", "16Mi")}},
	{what: "traffic pod", pods: 2, containers: []claim{requesting("traffic", "100m", "128Mi")}},
}

func quota(hard, used corev1.ResourceList) []corev1.ResourceQuota {
	return []corev1.ResourceQuota{{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}}}
}

func TestQuotas(t *testing.T) {
	for name, test := range map[string]struct {
		hard, used corev1.ResourceList
		want       []string
	}{
		"nothing limited": {hard: corev1.ResourceList{"services": q("1")}},
		"just enough":     {hard: corev1.ResourceList{"pods": q("14"), "requests.cpu": q("400m"), "memory": q("608Mi")}, used: corev1.ResourceList{"pods": q("1")}},
		"too few pods": {hard: corev1.ResourceList{"pods": q("14")}, used: corev1.ResourceList{"pods": q("2")}, want: []string{
			"the ResourceQuota team leaves 12 of pods (14 less 2 used), and the subject needs 13: controller and observer 1 + 10 × simulated pod 1 + 2 × traffic pod 1",
		}},
		"too little": {hard: corev1.ResourceList{"requests.cpu": q("399m"), "requests.memory": q("512Mi")}, want: []string{
			"leaves 399m of requests.cpu (399m less 0 used), and the subject needs 400m: controller and observer 150m + 10 × simulated pod 5m + 2 × traffic pod 100m",
			"leaves 512Mi of requests.memory (512Mi less 0 used), and the subject needs 608Mi",
		}},
		"limits": {hard: corev1.ResourceList{"limits.cpu": q("100")}, want: []string{"limits limits.cpu, and the pods of a run have no limits"}},
	} {
		got := subjectDemands.exceedsQuotas(quota(test.hard, test.used))
		if len(got) != len(test.want) {
			t.Errorf("%s: %q, want %d problems", name, got, len(test.want))
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}

func node(name, cpu, memory, pods string, change ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"cpu": q(cpu), "memory": q(memory), "pods": q(pods)},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	for _, do := range change {
		do(&n)
	}
	return n
}

func running(on, cpu, memory string, phase corev1.PodPhase) corev1.Pod {
	return corev1.Pod{
		Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": q(cpu), "memory": q(memory)},
		}}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

func TestNodes(t *testing.T) {
	cordoned := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	tainted := func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Effect: corev1.TaintEffectNoSchedule}} }
	unready := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	for name, test := range map[string]struct {
		nodes   []corev1.Node
		running []corev1.Pod
		want    []string
	}{
		"just enough": {nodes: []corev1.Node{node("a", "1", "1Gi", "20")}, running: []corev1.Pod{running("a", "600m", "416Mi", corev1.PodRunning)}},
		"pods that have ended need nothing": {
			nodes:   []corev1.Node{node("a", "1", "1Gi", "13")},
			running: []corev1.Pod{running("a", "900m", "1Gi", corev1.PodSucceeded), running("a", "900m", "1Gi", corev1.PodFailed)},
		},
		"too full": {
			nodes:   []corev1.Node{node("a", "1", "1Gi", "20")},
			running: []corev1.Pod{running("a", "601m", "416Mi", corev1.PodRunning)},
			want:    []string{"1 node has 399m of cpu free, of 1, and the subject needs 400m: controller and observer 150m + 10 × simulated pod 5m + 2 × traffic pod 100m"},
		},
		"too small": {
			nodes: []corev1.Node{node("a", "140m", "1Gi", "20"), node("b", "149m", "1Gi", "20"), node("c", "149m", "1Gi", "20")},
			want:  []string{"no node has room for the pod of controller and observer: it needs 150m of cpu, and the emptiest node has 149m free"},
		},
		"nobody takes pods": {
			nodes: []corev1.Node{node("a", "9", "9Gi", "99", cordoned), node("b", "9", "9Gi", "99", tainted), node("c", "9", "9Gi", "99", unready)},
			want:  []string{"no node is ready"},
		},
	} {
		got := subjectDemands.exceedsNodes(test.nodes, test.running)
		if len(got) != len(test.want) {
			t.Errorf("%s: %q, want %d problems", name, got, len(test.want))
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}
