package controllers

import (
	"context"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
)

// scheduler gives pods to nodes in turn: there are no resources to run out of.
type scheduler struct {
	*cluster
	pods  listers.PodLister
	nodes listers.NodeLister

	mu    sync.Mutex
	turn  int
	given map[string]string // by key: of pods whose binding the cache has not seen
}

func newScheduler(c *cluster) (*loop, error) {
	s := &scheduler{cluster: c, pods: c.informers.Core().V1().Pods().Lister(), nodes: c.informers.Core().V1().Nodes().Lister(),
		given: map[string]string{}}
	l := newLoop(s.sync)
	l.watch(c.informers.Core().V1().Pods().Informer(), itself)
	// A new node may be the first that takes pods.
	l.watch(c.informers.Core().V1().Nodes().Informer(), func(metav1.Object) []string {
		waiting, _ := s.pods.List(labels.Everything()) // never fails: it is a cache
		var keys []string
		for _, pod := range waiting {
			if pod.Spec.NodeName == "" {
				keys = append(keys, keyOf(pod.Namespace, pod.Name))
			}
		}
		return keys
	})
	return l, nil
}

func (s *scheduler) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	pod, err := s.pods.Pods(namespace).Get(name)
	if err != nil || pod.Spec.NodeName != "" || !isActive(pod) || pod.Spec.SchedulerName != corev1.DefaultSchedulerName {
		s.forget(key)
		return gone(err)
	}
	node, err := s.pick(key)
	if err != nil || node == "" {
		return err
	}
	return gone(s.client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{}))
}

// pick returns the next node that takes pods, empty if none does. A pod that asks
// again, because the cache is behind, does not take another turn.
func (s *scheduler) pick(key string) (string, error) {
	nodes, err := s.nodes.List(labels.Everything())
	if err != nil {
		return "", err
	}
	nodes = slices.DeleteFunc(nodes, func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	if len(nodes) == 0 {
		return "", nil
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given[key] == "" {
		s.turn++
		s.given[key] = nodes[s.turn%len(nodes)].Name
	}
	return s.given[key], nil
}

func (s *scheduler) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.given, key)
}
