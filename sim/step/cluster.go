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

// Cluster is one subject's cluster: its API, its pods, and the function that receives changes. Only
// one goroutine may use it at a time.
type Cluster struct {
	// Watch is called with every change before it is written. It may be nil.
	Watch func(event.Change)
	// Victim is the target of faults. If it is nil, faults are errors.
	Victim fault.Victim

	subject    string
	client     *cluster.Client
	pods       backend.Fleet
	population corpus.Population
	log        *event.Log
	services   map[string]*service // by namespace/name
	late       atomic.Int64        // nanoseconds, see DelayReadiness
	delayed    atomic.Int64        // pods that started late
	active     map[string]func()   // heals an active fault, by the fault's name
}

// service is a service of the population, with its pods as written last.
type service struct {
	corpus.Service
	members []string        // pods by their slots in the slices; "" if the slot is free
	unready map[string]bool // of the members
	target  corpus.Target   // a URL that routes to it; zero if no ingress does
}

// NewCluster returns a Cluster of a population. The objects of the population may be created later.
func NewCluster(subject string, client *cluster.Client, pods backend.Fleet, population corpus.Population, log *event.Log) *Cluster {
	c := &Cluster{subject: subject, client: client, pods: pods, population: population, log: log, services: map[string]*service{}, active: map[string]func(){}}
	for _, s := range population.WithPods() {
		one := &service{Service: s, members: slices.Concat(s.Pods, s.Unready()), unready: map[string]bool{}}
		for _, pod := range s.Unready() {
			one.unready[pod] = true
		}
		c.services[s.Key()] = one
	}
	for _, target := range population.Targets() {
		if s := c.services[target.Service]; s.target.Host == "" {
			s.target = target
		}
	}
	return c
}

// StartPods starts the pods of the population and makes them ready, except those that are unready in
// the population. DelayReadiness can delay that.
func (c *Cluster) StartPods() error {
	for _, service := range c.population.WithPods() {
		for _, name := range service.Pods {
			if err := c.startPod(name, service); err != nil {
				return err
			}
		}
		for _, name := range service.Unready() {
			if _, err := c.create(name, service); err != nil {
				return err
			}
		}
	}
	return nil
}

// create creates a pod that is not ready.
func (c *Cluster) create(name string, of corpus.Service) (backend.Pod, error) {
	further := of.FurtherPorts()
	if len(further) == 0 {
		return c.pods.Start(qualified(of, name), of.Key())
	}
	fleet, ok := c.pods.(backend.PortFleet)
	if !ok {
		return nil, fmt.Errorf("the pods of service %s listen on several ports, which this driver does not support", of.Key())
	}
	return fleet.StartOn(qualified(of, name), of.Key(), further)
}

func (c *Cluster) startPod(name string, of corpus.Service) error {
	pod, err := c.create(name, of)
	if err != nil {
		return fmt.Errorf("start pod %s: %w", name, err)
	}
	if late := time.Duration(c.late.Load()); late > 0 {
		c.delayed.Add(1)
		time.AfterFunc(late, func() {
			if err := pod.Ready(); err != nil && pod.State() == backend.Starting {
				c.log.Trouble(c.subject, "a pod could not listen", err.Error())
			}
		})
		return nil
	}
	if err := pod.Ready(); err != nil {
		return fmt.Errorf("start pod %s: %w", name, err)
	}
	return nil
}

// DelayReadiness delays the listening of pods that start from now on, while they are already in
// their service, as if readiness depended on a timer and not on the pod. 0 ends the delay. It
// returns how many pods were delayed since the previous call.
func (c *Cluster) DelayReadiness(by time.Duration) (pods int) {
	c.late.Store(int64(by))
	return int(c.delayed.Swap(0))
}

// slices returns the EndpointSlices of a service with its current pods.
func (c *Cluster) slices(s *service) []*discoveryv1.EndpointSlice {
	members := make([]corpus.Member, len(s.members))
	for i, pod := range s.members {
		if pod == "" {
			continue // the slot is free
		}
		members[i] = corpus.Member{Pod: pod, Address: c.Address(qualified(s.Service, pod)), Serving: !s.unready[pod]}
	}
	return corpus.Slices(s.Service, members)
}

// Address returns the address of a started pod, by namespace/name.
func (c *Cluster) Address(pod string) netip.Addr {
	found, _ := c.pods.Get(pod)
	return found.Addr().Addr()
}

// qualified returns a pod of a service as namespace/name.
func qualified(of corpus.Service, pod string) string { return of.Namespace + "/" + pod }

// change logs a change with its timestamp, reports it to Watch, writes it, and logs the API's
// answer. A write that the API refuses is a result in the log, not an error.
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
