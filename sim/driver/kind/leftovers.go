package kind

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/kindcluster"
)

// removeLeftovers removes the objects of earlier runs from a kept cluster. It deletes pods without
// a grace period. The API then forgets them before their processes end. These occupy the node's
// ports, so it waits for their end.
func (i *instance) removeLeftovers(ctx context.Context) error {
	names, err := i.leftoverNamespaces(ctx)
	if err != nil {
		return err
	}
	running, err := i.containers(ctx, names)
	if err != nil {
		return err
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	if err := i.client.NetworkingV1().IngressClasses().DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		return err
	}
	for _, name := range names {
		if err := i.client.CoreV1().Namespaces().Delete(ctx, name, now); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err := i.client.CoreV1().Pods(name).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return driver.Poll(ctx, 200*time.Millisecond, func() (bool, error) {
		for _, id := range running {
			if len(kindcluster.Processes(id)) > 0 {
				return false, nil
			}
		}
		left, err := i.leftoverNamespaces(ctx)
		return len(left) == 0, err
	})
}

// leftoverNamespaces returns the namespaces that a new cluster does not have.
func (i *instance) leftoverNamespaces(ctx context.Context) ([]string, error) {
	list, err := i.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range list.Items {
		if n.Name != "default" && n.Name != "local-path-storage" && !strings.HasPrefix(n.Name, "kube-") {
			names = append(names, n.Name)
		}
	}
	return names, nil
}

// containers returns the IDs of the containers in namespaces.
func (i *instance) containers(ctx context.Context, namespaces []string) ([]string, error) {
	var ids []string
	for _, namespace := range namespaces {
		list, err := i.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, pod := range list.Items {
			for _, status := range pod.Status.ContainerStatuses {
				if id := idOf(status.ContainerID); id != "" {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids, nil
}

// idOf returns the ID of a container without the name of its runtime: containerd://ID.
func idOf(container string) string { return container[strings.LastIndexByte(container, '/')+1:] }
