package side

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/speed"
	"windtunnel.dev/sim/regress/speed/rig"
)

const (
	// requests is the number of requests whose CPU time is measured at a time.
	requests = 200
	// quitTime is how long nginx may take to end.
	quitTime = 3 * time.Second
)

var loopback = netip.MustParseAddr("127.0.0.1")

// Speed serves a cluster with an nginx of each side at the same time, and compares what they cost. All
// endpoints are one simulated pod. TCP and UDP services are left out, because their ports are fixed.
func (p Pair) Speed(ctx context.Context, cluster regress.Cluster, o speed.Options) (*speed.Result, error) {
	number, err := port.Free(1)
	if err != nil {
		return nil, err
	}
	address := netip.AddrPortFrom(loopback, uint16(number)) //nolint:gosec // a port
	pod := backend.Single("speed/pod", "speed/pod", address, 0, func(event.Event) {})
	if err := pod.Ready(); err != nil {
		return nil, err
	}
	defer pod.Gone()
	source, err := cluster.Source()
	if err != nil {
		return nil, err
	}
	base, err := p.Base.serve(ctx, cluster, address)
	if err != nil {
		return nil, fmt.Errorf("serving with base: %w", err)
	}
	defer p.Base.quit(ctx)
	head, err := p.Head.serve(ctx, cluster, address)
	if err != nil {
		return nil, fmt.Errorf("serving with head: %w", err)
	}
	defer p.Head.quit(ctx)
	targets, notAsked := base.Choose(ctx, rig.Candidates(source.Ingresses()))
	base.Targets, head.Targets = targets, targets
	o.Base, o.Head = base, head
	result, err := speed.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	result.Cluster, result.NotAsked = cluster.Name, notAsked
	for _, t := range targets {
		result.Targets = append(result.Targets, speed.Target{Kind: t.Kind, URL: t.URL(), Status: t.Status})
	}
	return result, nil
}

// serve starts the side's nginx on a cluster.
func (s *Side) serve(ctx context.Context, cluster regress.Cluster, pod netip.AddrPort) (*rig.Rig, error) {
	served, err := s.snapshot(cluster)
	if err != nil {
		return nil, err
	}
	source, err := cluster.Source()
	if err != nil {
		return nil, err
	}
	served.EndpointSlices = snapshot.Take(onePod{source, pod}).EndpointSlices
	served.ConfigMaps = maps.Clone(served.ConfigMaps)
	delete(served.ConfigMaps, s.rendering.Options.TCPServices)
	delete(served.ConfigMaps, s.rendering.Options.UDPServices)
	if err := s.offline.Serve(ctx, served); err != nil {
		s.quit(ctx)
		return nil, err
	}
	// Workers look for endpoints once a second; those of a reload have them at once.
	if _, err := s.offline.Reload(ctx); err != nil {
		s.quit(ctx)
		return nil, err
	}
	at := func(port int) string { return netip.AddrPortFrom(loopback, uint16(port)).String() } //nolint:gosec // a port
	ports := s.offline.Input().Options.Ports
	return &rig.Rig{Program: program{s, cluster}, HTTP: at(ports.HTTP), TLS: at(ports.HTTPS), Requests: requests}, nil
}

// quit ends the side's nginx, if it runs.
func (s *Side) quit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitTime)
	defer cancel()
	_ = s.offline.Quit(ctx) // it kills what does not end
}

// program is a side that serves a cluster.
type program struct {
	*Side
	cluster regress.Cluster
}

// Render implements rig.Program.
func (p program) Render() (int, error) {
	conf, err := p.Side.Render(p.cluster)
	return len(conf), err
}

// Reload implements rig.Program.
func (p program) Reload(ctx context.Context) (rig.Reloading, error) {
	r, err := p.offline.Reload(ctx)
	return rig.Reloading(r), err
}

// Workers implements rig.Program.
func (p program) Workers() ([]int, error) { return p.offline.Workers() }

// onePod is a cluster whose endpoints are all the same pod.
type onePod struct {
	*snapshot.Manifests
	pod netip.AddrPort
}

// EndpointSlices implements snapshot.Source.
func (s onePod) EndpointSlices() []*discoveryv1.EndpointSlice {
	var all []*discoveryv1.EndpointSlice
	number := int32(s.pod.Port())
	for _, slice := range s.Manifests.EndpointSlices() {
		slice = slice.DeepCopy()
		for i := range slice.Endpoints {
			slice.Endpoints[i].Addresses = []string{s.pod.Addr().String()}
		}
		for i := range slice.Ports {
			slice.Ports[i].Port = &number
		}
		all = append(all, slice)
	}
	return all
}
