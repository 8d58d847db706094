package step

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

// streams has the function that generates the changes of each kind of churn.
var streams = map[string]func(corpus.Population, churn.Options) churn.Stream{
	scenario.RollingUpdate: churn.RollingUpdate,
	scenario.ScaleOut:      churn.ScaleOut,
	scenario.NewHosts:      churn.NewHosts,
	scenario.Touch:         churn.Touch,
}

// Stream returns the changes of a kind of churn over a population, and false if the kind has no
// stream.
func Stream(kind string, p corpus.Population, o churn.Options) (churn.Stream, bool) {
	stream, ok := streams[kind]
	if !ok {
		return churn.Stream{}, false
	}
	return stream(p, o), true
}

// churnTasks returns a task for each change of a churn.
func churnTasks(s scenario.Step, in setting, next int) ([]Task, int) {
	stream := streams[s.Churn](in.population, churn.Options{Seed: in.seed, Rate: float64(s.Rate), For: s.For, Start: s.At, Pods: s.Pods, Paths: s.Paths})
	return tasksOf(s, stream.Changes, next)
}

// recordedTasks returns a task for each change of the recording within the duration of the step.
func recordedTasks(s scenario.Step, in setting, next int) ([]Task, int) {
	var changes []churn.Change
	for _, change := range in.recorded.Changes {
		if change.At <= s.For {
			change.At += s.At
			changes = append(changes, change)
		}
	}
	return tasksOf(s, changes, next)
}

func tasksOf(s scenario.Step, changes []churn.Change, next int) ([]Task, int) {
	var tasks []Task
	var drain time.Duration
	if s.Drain != nil {
		drain = *s.Drain
	}
	for _, change := range changes {
		id := next
		tasks = append(tasks, Task{At: change.At, Do: func(ctx context.Context, c *Cluster) error {
			return c.churn(ctx, id, s.Churn, change, drain)
		}})
		next++
	}
	return tasks, next
}

// churn makes one change of a stream.
func (c *Cluster) churn(ctx context.Context, id int, kind string, change churn.Change, drain time.Duration) error {
	service := c.services[change.Service]
	if service == nil {
		return fmt.Errorf("change %d: there is no service %s", id, change.Service)
	}
	switch {
	case change.Host != "":
		return c.newHost(ctx, event.Change{ID: id, Step: kind}, change, service)
	case change.Touch != "":
		return c.touch(ctx, event.Change{ID: id, Step: kind}, change.Touch, service)
	}
	return c.replace(ctx, event.Change{ID: id, Step: kind}, change, service, drain)
}

// replace adds pods to a service and removes others. As with maxSurge of a Deployment, new pods are
// ready before old ones are asked to terminate. One write of an EndpointSlice covers both, unless
// their slots are in several slices. After the API has accepted the change, old pods keep serving
// for drain; then their addresses refuse connections.
func (c *Cluster) replace(ctx context.Context, change event.Change, r churn.Change, service *service, drain time.Duration) error {
	for _, pod := range r.Add {
		if err := c.startPod(pod, service.Service); err != nil {
			return err
		}
	}
	slots, err := service.replaceMembers(r.Remove, r.Add)
	if err != nil {
		return fmt.Errorf("change %d: %w", change.ID, err)
	}
	written, err := c.slicesAt(service, slots)
	if err != nil {
		return err
	}
	change.Object, change.Service, change.Pods = cluster.Name(written[0]), r.Service, service.size()
	change.Host, change.Path, change.TLS = service.target.Host, service.target.Path, service.target.TLS
	change.Added, change.Removed = allQualified(service.Service, r.Add), allQualified(service.Service, r.Remove)
	if err := c.change(ctx, change, func() (string, error) { return c.putAll(ctx, written) }); err != nil {
		return err
	}
	for _, pod := range r.Remove {
		old, ok := c.pods.Get(qualified(service.Service, pod))
		if !ok {
			return fmt.Errorf("change %d: pod %s was never started", change.ID, pod)
		}
		old.Terminate(drain)
	}
	return nil
}

// replaceMembers gives the slots of leaving pods to coming pods; further coming pods get new slots.
// It returns the slots that changed.
func (s *service) replaceMembers(leave, come []string) (slots []int, err error) {
	for i := range max(len(leave), len(come)) {
		slot, pod := len(s.members), ""
		if i < len(leave) {
			if slot = slices.Index(s.members, leave[i]); slot < 0 {
				return nil, fmt.Errorf("pod %s is not in service %s", leave[i], s.Key())
			}
		} else {
			s.members = append(s.members, "")
		}
		if i < len(come) {
			pod = come[i]
		}
		s.members[slot] = pod
		slots = append(slots, slot)
	}
	return slots, nil
}

// slicesAt returns the EndpointSlices that have these slots, each once.
func (c *Cluster) slicesAt(s *service, slots []int) ([]*unstructured.Unstructured, error) {
	all, seen := c.slices(s), map[int]bool{}
	var found []*unstructured.Unstructured
	for _, slot := range slots {
		if i := slot / corpus.SliceSize; !seen[i] {
			seen[i] = true
			object, err := cluster.Object(all[i])
			if err != nil {
				return nil, err
			}
			found = append(found, object)
		}
	}
	return found, nil
}

// putAll writes objects and returns the resource version of the last one.
func (c *Cluster) putAll(ctx context.Context, objects []*unstructured.Unstructured) (version string, err error) {
	for _, object := range objects {
		if version, err = c.client.Put(ctx, object); err != nil {
			return "", err
		}
	}
	return version, nil
}

func allQualified(of corpus.Service, pods []string) (all []string) {
	for _, pod := range pods {
		all = append(all, qualified(of, pod))
	}
	return all
}

// size returns the number of ready pods of the service.
func (s *service) size() (n int) {
	for _, pod := range s.members {
		if pod != "" && !s.unready[pod] {
			n++
		}
	}
	return n
}
