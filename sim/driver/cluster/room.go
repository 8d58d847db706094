package cluster

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// demands returns what the pods of the subject request, as the manifests say. A lower limit lowers a request.
func (i *instance) demands() demands {
	controller := requesting("controller", "100m", "128Mi")
	controller.limits = i.limits()
	for of, limit := range controller.limits {
		if request := controller.requests[of]; request.Cmp(limit) > 0 {
			controller.requests[of] = limit
		}
	}
	all := demands{
		{what: "controller and observer", pods: 1, containers: []claim{controller, requesting("observer", "50m", "64Mi")}},
		{what: "simulated pod", pods: int64(i.pool), containers: []claim{requesting(poolName, "5m", "16Mi")}},
	}
	if n := i.driver.Traffic; n > 0 {
		all = append(all, demand{what: "traffic pod", pods: int64(n), containers: []claim{requesting(trafficName, "100m", "128Mi")}})
	}
	return all
}

// limits returns those that the scenario gives the controller.
func (i *instance) limits() corev1.ResourceList {
	limits := corev1.ResourceList{}
	for of, limit := range map[corev1.ResourceName]resource.Quantity{
		corev1.ResourceCPU: i.subject.Resources.CPU.Quantity, corev1.ResourceMemory: i.subject.Resources.Memory.Quantity,
	} {
		if !limit.IsZero() {
			limits[of] = limit
		}
	}
	return limits
}

// checkRoom returns an error if the quotas or limits of the namespace, or the nodes, have no room for the
// subject. It does not check what the user may not list.
func (i *instance) checkRoom(ctx context.Context) error {
	needs := i.demands()
	var problems []string
	quotas, err := i.driver.client.CoreV1().ResourceQuotas(i.home.name()).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		i.driver.Tell("quotas are not checked: the user may not list resourcequotas")
	case err != nil:
		return fmt.Errorf("list the quotas of namespace %s: %w", i.home.name(), err)
	default:
		problems = needs.exceedsQuotas(quotas.Items)
	}
	ranges, err := i.driver.client.CoreV1().LimitRanges(i.home.name()).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		i.driver.Tell("limits are not checked: the user may not list limitranges")
	case err != nil:
		return fmt.Errorf("list the limits of namespace %s: %w", i.home.name(), err)
	default:
		refused, notices := needs.exceedsRanges(ranges.Items)
		problems = append(problems, refused...)
		for _, notice := range notices {
			i.driver.Tell(notice)
		}
	}
	nodes, err := i.driver.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		i.driver.Tell("the free resources of the nodes are not checked: the user may not list nodes")
	case err != nil:
		return fmt.Errorf("list the nodes: %w", err)
	default:
		pods, err := i.driver.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list the pods on the nodes: %w", err)
		}
		problems = append(problems, needs.exceedsNodes(nodes.Items, pods.Items)...)
	}
	if len(problems) > 0 {
		return fmt.Errorf("there is no room for subject %s: %s", i.subject.Name, strings.Join(problems, "; "))
	}
	return nil
}
