package cluster

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// demands returns what the pods of the subject request, as the manifests say.
func (i *instance) demands() demands {
	quantity := resource.MustParse
	controller := demand{what: "controller and observer", pods: 1, cpu: quantity("150m"), memory: quantity("192Mi")}
	all := demands{controller, {what: "simulated pod", pods: int64(i.pool), cpu: quantity("5m"), memory: quantity("16Mi")}}
	if n := i.driver.Traffic; n > 0 {
		all = append(all, demand{what: "traffic pod", pods: int64(n), cpu: quantity("100m"), memory: quantity("128Mi")})
	}
	return all
}

// checkRoom returns an error if the quotas of the namespace, or the nodes, have no room for the subject.
// What the user may not look at is not checked.
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
	nodes, err := i.driver.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		i.driver.Tell("the room on the nodes is not checked: the user may not list nodes")
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
