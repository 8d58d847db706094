package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/step"
	"windtunnel.dev/sim/traffic"
)

// round is one turn of a subject: its share of the timeline under traffic,
// until every worker serves the last change or the scenario's patience ends.
func (s *side) round(ctx context.Context, o Options, number int, length time.Duration, beats []step.Beat) error {
	acting, stopActing := context.WithCancel(ctx)
	defer stopActing()
	converge := probe.StartConvergence(acting, s.log, s.workers, probe.Looks{Address: s.instance.Address().String()})
	s.cluster.Watch = converge.Watch

	s.usage.Sample()
	s.phase(event.RoundBegin, number)
	var running sync.WaitGroup
	failures := make(chan error, len(o.Scenario.Traffic))
	for i, attack := range s.attacks(o) {
		attack.Seed = o.Seed + uint64(number)<<32 + uint64(i)
		attack.Rate = arrivals(o.Scenario.Traffic[i]).Pacer(attack.Seed)
		running.Go(func() {
			if err := traffic.Run(acting, attack); err != nil {
				failures <- fmt.Errorf("subject %s, lane %s: %w", s.name, attack.Lane, err)
				stopActing()
			}
		})
	}

	err := s.play(acting, length, beats)
	if err == nil {
		s.phase(event.ChurnEnd, number)
		settle(acting, converge, o.Scenario.Settle)
	}
	effort := converge.Effort()
	s.log.Write(event.Event{At: s.log.Now(), Subject: s.name, Probe: &effort})
	s.phase(event.RoundEnd, number)
	s.usage.Sample()
	stopActing()
	s.cluster.Heal()
	running.Wait()
	<-converge.Done()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	if cut := context.Cause(ctx); cut != nil {
		return cut
	}
	return err
}

// play does each beat at its time and returns when the stretch is over.
func (s *side) play(ctx context.Context, length time.Duration, beats []step.Beat) error {
	begin := time.Now()
	for _, beat := range beats {
		if err := waitUntil(ctx, begin.Add(beat.At)); err != nil {
			return err
		}
		if err := beat.Do(ctx, s.cluster); err != nil {
			return fmt.Errorf("subject %s: %w", s.name, err)
		}
	}
	return waitUntil(ctx, begin.Add(length))
}

// settle waits until every worker serves every change. Not to get there is a
// result, not an error: the log shows which change never arrived.
func settle(ctx context.Context, converge *probe.Convergence, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	converge.Settled(ctx)
}

func (s *side) attacks(o Options) []traffic.Attack {
	var attacks []traffic.Attack
	for _, lane := range o.Scenario.Traffic {
		attack := traffic.Attack{
			Lane: lane.Lane, To: s.door(lane.Lane), Subject: s.name, Log: s.log,
			Last: lane.Last, Bytes: lane.Bytes,
		}
		if slices.Contains(traffic.StreamLanes(), lane.Lane) {
			attack.Targets = s.streamTargets(lane)
		} else {
			attack.Targets = s.hostTargets(lane)
		}
		attacks = append(attacks, attack)
	}
	return attacks
}

// hostTargets are the URLs that a lane asks for.
func (s *side) hostTargets(lane scenario.Traffic) []traffic.Target {
	var targets []traffic.Target
	for _, target := range s.population.Targets() {
		if lane.Host == "" || lane.Host == target.Host {
			targets = append(targets, traffic.Target{Host: target.Host, Path: target.Path, Service: target.Service})
		}
	}
	if len(targets) == 0 { // the host is a manifest's
		return []traffic.Target{{Host: lane.Host, Path: "/", Service: qualified(lane.Service, s.population.Namespace)}}
	}
	return targets
}

// streamTargets are the ports of nginx that lead to services over TCP or UDP.
// In the place of a host they have the name of the service.
func (s *side) streamTargets(lane scenario.Traffic) []traffic.Target {
	var targets []traffic.Target
	ports := s.instance.Streams()
	for i, service := range s.population.Services {
		if i < len(ports) && (lane.Service == "" || qualified(lane.Service, s.population.Namespace) == service.Key()) {
			targets = append(targets, traffic.Target{Host: service.Name, Service: service.Key(), To: ports[i]})
		}
	}
	return targets
}

// door is where a lane's clients reach nginx.
func (s *side) door(lane string) netip.AddrPort {
	if traffic.DoorOf(lane) == traffic.TLS {
		return s.instance.TLS()
	}
	return s.instance.Address()
}

// arrivals are when the requests of a stream are due, in the harness's terms.
func arrivals(t scenario.Traffic) traffic.Arrivals {
	a := traffic.Arrivals{Rate: float64(t.Rate), Poisson: t.Arrivals == scenario.Poisson}
	if t.Ramp != nil {
		a.To, a.Over = float64(t.Ramp.To), t.Ramp.Over
	}
	if t.Sine != nil {
		a.Swing, a.Period = float64(t.Sine.By), t.Sine.Every
	}
	return a
}

// qualified is a service as namespace/name; empty stays empty.
func qualified(service, namespace string) string {
	if service == "" || strings.Contains(service, "/") {
		return service
	}
	return namespace + "/" + service
}

func waitUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
