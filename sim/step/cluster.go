package step

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
)

// Cluster is one subject's cluster: its API and its pods, and who is told of
// changes. It is used by one goroutine at a time.
type Cluster struct {
	// Watch is told of every change before it is written. It may be nil.
	Watch func(event.Change)
	// Victim is what faults break. It may be nil: then they are errors.
	Victim fault.Victim

	subject    string
	client     *cluster.Client
	pods       backend.Fleet
	population corpus.Population
	log        *event.Log
	services   map[string]*service // by namespace/name
	late       atomic.Int64        // nanoseconds, see Late
	delayed    atomic.Int64        // pods that started late
	struck     map[string]func()   // heals the fault of that name, if it lasts still
}

// service is a service of the population with its pods as last written.
type service struct {
	corpus.Service
	members []string      // by their places in the slices; empty: nobody has the place
	target  corpus.Target // a URL that it answers; zero when no ingress routes to it
}

// NewCluster is a cluster that holds a population, or will soon.
func NewCluster(subject string, client *cluster.Client, pods backend.Fleet, population corpus.Population, log *event.Log) *Cluster {
	c := &Cluster{subject: subject, client: client, pods: pods, population: population, log: log, services: map[string]*service{}, struck: map[string]func(){}}
	for _, s := range population.Services {
		c.services[s.Key()] = &service{Service: s, members: slices.Clone(s.Pods)}
	}
	for _, target := range population.Targets() {
		if s := c.services[target.Service]; s.target.Host == "" {
			s.target = target
		}
	}
	return c
}

// StartPods starts the pods of the population and makes them ready.
func (c *Cluster) StartPods() error {
	for _, service := range c.population.Services {
		for _, name := range service.Pods {
			if err := c.startPod(name, service); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) startPod(name string, of corpus.Service) error {
	pod, err := c.pods.Start(c.qualified(name), of.Key())
	if err != nil {
		return fmt.Errorf("starting pod %s: %w", name, err)
	}
	if late := time.Duration(c.late.Load()); late > 0 {
		c.delayed.Add(1)
		time.AfterFunc(late, func() {
			if err := pod.Ready(); err != nil && pod.State() == backend.Starting {
				c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Trouble: &event.Trouble{What: "a pod could not listen", Detail: err.Error()}})
			}
		})
		return nil
	}
	if err := pod.Ready(); err != nil {
		return fmt.Errorf("starting pod %s: %w", name, err)
	}
	return nil
}

// Late makes pods that start from now on listen so long after they are in their
// service, as where readiness is told by a clock and not by the pod; 0 ends that.
// It returns how many were late since the call before.
func (c *Cluster) Late(by time.Duration) (pods int) {
	c.late.Store(int64(by))
	return int(c.delayed.Swap(0))
}

// slices are the EndpointSlices of a service with its pods of the moment.
func (c *Cluster) slices(s *service) []*discoveryv1.EndpointSlice {
	members := make([]corpus.Member, len(s.members))
	for i, pod := range s.members {
		if pod == "" {
			continue // its place is nobody's
		}
		members[i] = corpus.Member{Pod: pod, Address: c.Address(pod), Serving: true}
	}
	return corpus.Slices(s.Service, members)
}

// Address is the address of a pod that was started.
func (c *Cluster) Address(pod string) netip.Addr {
	found, _ := c.pods.Get(c.qualified(pod))
	return found.Addr().Addr()
}

func (c *Cluster) qualified(name string) string { return c.population.Namespace + "/" + name }

// change stamps a change, tells of it, has it written, and logs what the API
// said. A write that the API refuses is a result, in the log.
func (c *Cluster) change(ctx context.Context, change event.Change, write func() (string, error)) error {
	c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Change: &change})
	if c.Watch != nil {
		c.Watch(change)
	}
	version, err := write()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	written := event.Written{Change: change.ID, ResourceVersion: version}
	if err != nil {
		written.Error = err.Error()
	}
	c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Written: &written})
	return nil
}
