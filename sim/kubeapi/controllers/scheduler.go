package controllers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
)

// scheduler binds each pod to the node with the fewest pods, among those that the pod's node
// selector, affinity and tolerations allow. Nodes have no resource limits.
type scheduler struct {
	*cluster
	pods  listers.PodLister
	nodes listers.NodeLister

	mu    sync.Mutex
	given map[string]string // node by pod key, set when the node is chosen
	load  map[string]int    // number of assigned pods by node
}

func newScheduler(c *cluster) (*loop, error) {
	s := &scheduler{cluster: c, pods: c.informers.Core().V1().Pods().Lister(), nodes: c.informers.Core().V1().Nodes().Lister(),
		given: map[string]string{}, load: map[string]int{}}
	l := newLoop(s.sync)
	c.watchPods(l, ownKey)
	// A new node may be the first schedulable one.
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
	if err != nil || !isActive(pod) {
		s.recordNode(key, "")
		return ignoreNotFound(err)
	}
	if pod.Spec.NodeName != "" {
		s.recordNode(key, pod.Spec.NodeName)
		return nil
	}
	if pod.Spec.SchedulerName != corev1.DefaultSchedulerName || len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	node, err := s.pick(key, pod)
	if err == nil && node == "" {
		s.events.Event(pod, corev1.EventTypeWarning, "FailedScheduling", "No schedulable node matches the pod's node selector, affinity and tolerations")
	}
	if err != nil || node == "" {
		return err
	}
	return ignoreNotFound(s.client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{}))
}

// pick returns the suitable node with the fewest pods, or an empty string if there is none. If
// several nodes have equally few, it returns the first by name. A pod that is queued again because
// the cache is stale gets the same answer.
func (s *scheduler) pick(key string, pod *corev1.Pod) (string, error) {
	nodes, err := s.nodes.List(labels.Everything())
	if err != nil {
		return "", err
	}
	nodes = slices.DeleteFunc(nodes, func(n *corev1.Node) bool { return !fits(pod, n) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if node := s.given[key]; slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return n.Name == node }) {
		return node, nil
	}
	if len(nodes) == 0 {
		return "", nil
	}
	least := slices.MinFunc(nodes, func(a, b *corev1.Node) int {
		return cmp.Or(cmp.Compare(s.load[a.Name], s.load[b.Name]), strings.Compare(a.Name, b.Name))
	})
	s.move(key, least.Name)
	return least.Name, nil
}

// recordNode records the node of a pod; an empty node removes the record.
func (s *scheduler) recordNode(key, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(key, node)
}

func (s *scheduler) move(key, node string) {
	if old := s.given[key]; old != "" {
		s.load[old]--
	}
	delete(s.given, key)
	if node != "" {
		s.given[key] = node
		s.load[node]++
	}
}
