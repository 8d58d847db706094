package controllers

import (
	"context"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

var daemonSetKind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

// daemonSet keeps one pod of each DaemonSet on every node that fits it.
type daemonSet struct {
	history
	queue *loop
	sets  appslisters.DaemonSetLister
	pods  listers.PodLister
	nodes listers.NodeLister
}

func newDaemonSet(c *cluster) (*loop, error) {
	apps, core := c.informers.Apps().V1(), c.informers.Core().V1()
	d := &daemonSet{history: history{c, apps.ControllerRevisions().Lister()}, sets: apps.DaemonSets().Lister(), pods: core.Pods().Lister(), nodes: core.Nodes().Lister()}
	l := newLoop(d.sync)
	l.watch(apps.DaemonSets().Informer(), ownKey)
	l.watch(apps.ControllerRevisions().Informer(), controllerKey("DaemonSet"))
	l.watch(core.Nodes().Informer(), func(metav1.Object) []string {
		sets, _ := d.sets.List(labels.Everything()) // never fails: it is a cache
		var keys []string
		for _, ds := range sets {
			keys = append(keys, keyOf(ds.Namespace, ds.Name))
		}
		return keys
	})
	c.watchPods(l, controllerKey("DaemonSet"))
	d.queue = l
	return l, nil
}

// daemons is the state of one sync: a copy of the DaemonSet, which may be changed, and its pods.
type daemons struct {
	*appsv1.DaemonSet
	selector labels.Selector
	current  *appsv1.ControllerRevision
	nodes    []string // the nodes that should run a pod, sorted
	keeping  []string // other nodes, which keep the pods that they have
	byNode   map[string][]*corev1.Pod
}

func (d *daemonSet) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := d.sets.DaemonSets(namespace).Get(name)
	if err != nil || cached.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	s := &daemons{DaemonSet: cached.DeepCopy()}
	if s.selector, err = metav1.LabelSelectorAsSelector(s.Spec.Selector); err != nil {
		return nil //nolint:nilerr // a user's mistake, so a retry does not help
	}
	t := templated{s.DaemonSet, daemonSetKind, &s.Spec.Template, s.Spec.RevisionHistoryLimit}
	var old []*appsv1.ControllerRevision
	if s.current, old, err = d.ensure(ctx, t); err != nil {
		return err
	}
	pods, err := d.pods.Pods(namespace).List(s.selector)
	if err != nil {
		return err
	}
	s.sort(controlledBy(s.DaemonSet, pods))
	if err := d.findNodes(s); err != nil {
		return err
	}
	if err := errors.Join(d.advance(ctx, s), d.writeStatus(ctx, s)); err != nil {
		return err
	}
	return d.prune(ctx, t, old, s.uses)
}

// sort sorts pods by node.
func (s *daemons) sort(pods []*corev1.Pod) {
	s.byNode = map[string][]*corev1.Pod{}
	for _, pod := range pods {
		s.byNode[targetNode(pod)] = append(s.byNode[targetNode(pod)], pod)
	}
}

// findNodes finds the nodes that should run a pod, and those that keep theirs.
func (d *daemonSet) findNodes(s *daemons) error {
	nodes, err := d.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, node := range nodes {
		switch pod := s.newPod(node.Name); {
		case fits(pod, node):
			s.nodes = append(s.nodes, node.Name)
		case mayStay(pod, node):
			s.keeping = append(s.keeping, node.Name)
		}
	}
	slices.Sort(s.nodes)
	return nil
}

// advance makes the next steps towards one current pod on each node.
func (d *daemonSet) advance(ctx context.Context, s *daemons) error {
	for node, pods := range s.byNode {
		if err := d.clean(ctx, s, node, pods); err != nil {
			return err
		}
	}
	missing := s.missing()
	if len(missing) == 0 {
		return d.roll(ctx, s)
	}
	// The cache may not show the pods that an earlier sync created.
	live, err := d.livePods(ctx, s.DaemonSet, s.selector)
	if err != nil {
		return err
	}
	s.sort(live)
	missing = s.missing()
	return inParallel(len(missing), func(i int) error { return d.createPod(ctx, s.DaemonSet, s.newPod(missing[i])) })
}

// missing returns the nodes that should run a pod and have none, not even an ended or a terminating
// one.
func (s *daemons) missing() []string {
	var nodes []string
	for _, node := range s.nodes {
		if len(s.byNode[node]) == 0 {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// clean deletes the surplus pods of a node: all if none may stay there. Otherwise it keeps only the
// oldest running pod of the current revision and the oldest one of earlier revisions.
func (d *daemonSet) clean(ctx context.Context, s *daemons, node string, pods []*corev1.Pod) error {
	stays := slices.Contains(s.nodes, node) || slices.Contains(s.keeping, node)
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	seen := map[bool]bool{}
	for _, pod := range pods {
		current := s.isCurrent(pod)
		switch {
		case pod.DeletionTimestamp != nil:
			continue
		case stays && !isOver(pod) && !seen[current]:
			seen[current] = true
			continue
		}
		if err := d.deletePod(ctx, s.DaemonSet, pod); err != nil {
			return err
		}
	}
	return nil
}

func (s *daemons) isCurrent(pod *corev1.Pod) bool {
	return revisionNameOf(pod) == s.current.Labels[hashLabel]
}

// uses reports whether any pod has the revision r.
func (s *daemons) uses(r *appsv1.ControllerRevision) bool {
	for _, pods := range s.byNode {
		for _, pod := range pods {
			if revisionNameOf(pod) == r.Labels[hashLabel] {
				return true
			}
		}
	}
	return false
}
