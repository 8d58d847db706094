package cluster

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/internal/plural"
)

// demand has the resource requests of a number of equal pods.
type demand struct {
	what       string
	pods       int64
	containers []claim // of each
}

// claim has the requests and limits of a container.
type claim struct {
	name             string
	requests, limits corev1.ResourceList
}

// requesting returns the claim of a container without limits.
func requesting(name, cpu, memory string) claim {
	return claim{name: name, requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// demands are those of a subject.
type demands []demand

// amount returns how much of a resource one pod requests: pods, cpu or memory.
func (d demand) amount(of corev1.ResourceName) (sum resource.Quantity) {
	if of == corev1.ResourcePods {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	for _, c := range d.containers {
		sum.Add(c.requests[of])
	}
	return sum
}

// total returns the sum of a resource, and the calculation as text.
func (all demands) total(of corev1.ResourceName) (sum resource.Quantity, how string) {
	var parts []string
	for _, d := range all {
		one := d.amount(of)
		for range d.pods {
			sum.Add(one)
		}
		part := fmt.Sprintf("%s %s", d.what, one.String())
		if d.pods != 1 {
			part = fmt.Sprintf("%d × %s", d.pods, part)
		}
		parts = append(parts, part)
	}
	return sum, strings.Join(parts, " + ")
}

// counted are the resources that are checked.
var counted = []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory}

// exceedsQuotas returns the requests that the quotas of the namespace do not allow, with the
// calculation.
func (all demands) exceedsQuotas(quotas []corev1.ResourceQuota) (problems []string) {
	for _, quota := range quotas {
		for _, of := range counted {
			for _, name := range []corev1.ResourceName{of, "requests." + of} {
				hard, limited := quota.Status.Hard[name]
				if !limited {
					continue
				}
				left := hard.DeepCopy()
				left.Sub(quota.Status.Used[name])
				if sum, how := all.total(of); sum.Cmp(left) > 0 {
					used := quota.Status.Used[name]
					problems = append(problems, fmt.Sprintf("the ResourceQuota %s leaves %s of %s (%s less %s used), and the subject needs %s: %s",
						quota.Name, left.String(), name, hard.String(), used.String(), sum.String(), how))
				}
			}
			if name := "limits." + of; of != corev1.ResourcePods {
				if _, limited := quota.Status.Hard[name]; limited {
					problems = append(problems, fmt.Sprintf("the ResourceQuota %s limits %s, and the pods of a run have no limits: exempt the namespaces of runs from it", quota.Name, name))
				}
			}
		}
	}
	return problems
}

// exceedsNodes returns the requests that the nodes have no room for, with the calculation. Running
// are the pods of the cluster.
func (all demands) exceedsNodes(nodes []corev1.Node, running []corev1.Pod) (problems []string) {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool { return !takesPods(n) })
	if len(nodes) == 0 {
		return []string{"no node is ready and schedulable"}
	}
	for _, of := range counted {
		var has, free, most resource.Quantity
		for _, node := range nodes {
			has.Add(node.Status.Allocatable[of])
			left := freeOf(node, running, of)
			free.Add(left)
			if left.Cmp(most) > 0 {
				most = left
			}
		}
		if sum, how := all.total(of); sum.Cmp(free) > 0 {
			problems = append(problems, fmt.Sprintf("%s %s of %s free, of %s, and the subject needs %s: %s",
				plural.Of(len(nodes), "node has", "nodes have"), free.String(), of, has.String(), sum.String(), how))
		}
		for _, d := range all {
			if one := d.amount(of); one.Cmp(most) > 0 {
				problems = append(problems, fmt.Sprintf("no node has room for the pod of %s: it needs %s of %s, and the emptiest node has %s free", d.what, one.String(), of, most.String()))
			}
		}
	}
	return problems
}

// takesPods reports whether a pod without tolerations can be scheduled on a node.
func takesPods(n corev1.Node) bool {
	tainted := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return ready && !tainted && !n.Spec.Unschedulable
}

// freeOf returns how much of a resource of a node no pod has requested.
func freeOf(node corev1.Node, running []corev1.Pod, of corev1.ResourceName) resource.Quantity {
	free := node.Status.Allocatable[of].DeepCopy()
	for _, pod := range running {
		if pod.Spec.NodeName != node.Name || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if of == corev1.ResourcePods {
			free.Sub(*resource.NewQuantity(1, resource.DecimalSI))
			continue
		}
		for _, container := range pod.Spec.Containers {
			free.Sub(container.Resources.Requests[of])
		}
	}
	return free
}
