package adapterstest

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// runControlPlane is a controller that serves its routes over xDS to a proxy that it does not start, as
// Contour does.
func runControlPlane(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(controlPlane, flag.ContinueOnError)
	http, address := flags.String("http", "", "where the proxy listens"), flags.String("xds", "", "where to serve xDS")
	var from source
	from.addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	proxy, err := netip.ParseAddrPort(*http)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	p := &plane{proxy: proxy, changed: make(chan struct{})}
	server := grpc.NewServer()
	discovery.RegisterAggregatedDiscoveryServiceServer(server, p)
	context.AfterFunc(ctx, server.Stop)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		cancel(from.follow(ctx, func(routes []Route) error { return p.set(routes) }))
		server.Stop()
	}()
	return server.Serve(l)
}

// plane is a control plane.
type plane struct {
	discovery.UnimplementedAggregatedDiscoveryServiceServer
	proxy netip.AddrPort

	mu        sync.Mutex
	version   int
	resources map[string][]*anypb.Any // by type
	changed   chan struct{}           // closed by the next version
}

// set replaces the routes.
func (p *plane) set(routes []Route) error {
	resources, err := p.describe(routes)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resources = resources
	p.version++
	close(p.changed)
	p.changed = make(chan struct{})
	return nil
}

func (p *plane) current() (version int, resources map[string][]*anypb.Any, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version, p.resources, p.changed
}

// StreamAggregatedResources sends all resources of each requested type: at first, when the
// requested names change, and when the resources change.
func (p *plane) StreamAggregatedResources(stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	requests := make(chan *discovery.DiscoveryRequest)
	go func() {
		defer close(requests)
		for {
			request, err := stream.Recv()
			if err != nil {
				return
			}
			select {
			case requests <- request:
			case <-stream.Context().Done():
				return
			}
		}
	}()
	sent, names := map[string]int{}, map[string][]string{}
	for {
		version, resources, changed := p.current()
		for kind, before := range sent {
			if before == version || version == 0 {
				continue
			}
			response := &discovery.DiscoveryResponse{TypeUrl: kind, VersionInfo: fmt.Sprint(version), Nonce: fmt.Sprint(version), Resources: resources[kind]}
			if err := stream.Send(response); err != nil {
				return err
			}
			sent[kind] = version
		}
		select {
		case request, more := <-requests:
			if !more {
				return nil
			}
			kind := request.TypeUrl
			if _, again := sent[kind]; !again || !slices.Equal(names[kind], request.ResourceNames) {
				sent[kind], names[kind] = 0, request.ResourceNames
			}
		case <-changed:
		}
	}
}

// describe returns the resources of routes by type.
func (p *plane) describe(routes []Route) (map[string][]*anypb.Any, error) {
	var clusters, endpoints []proto.Message
	config := &route.RouteConfiguration{Name: "http"}
	hosts := map[string]*route.VirtualHost{}
	for _, r := range routes {
		name := r.Host + r.Path
		clusters = append(clusters, &cluster.Cluster{Name: name, EdsClusterConfig: &cluster.Cluster_EdsClusterConfig{}})
		endpoints = append(endpoints, assignmentOf(name, r.Endpoints))
		host := hosts[r.Host]
		if host == nil {
			host = &route.VirtualHost{Name: r.Host, Domains: []string{r.Host}}
			hosts[r.Host], config.VirtualHosts = host, append(config.VirtualHosts, host)
		}
		host.Routes = append(host.Routes, &route.Route{
			Match:  &route.RouteMatch{PathSpecifier: &route.RouteMatch_Prefix{Prefix: r.Path}},
			Action: &route.Route_Route{Route: &route.RouteAction{ClusterSpecifier: &route.RouteAction_Cluster{Cluster: name}}},
		})
	}
	manager, err := anypb.New(&hcm.HttpConnectionManager{RouteSpecifier: &hcm.HttpConnectionManager_Rds{Rds: &hcm.Rds{RouteConfigName: config.Name}}})
	if err != nil {
		return nil, err
	}
	http := &listener.Listener{Name: "http", Address: addressOf(p.proxy), FilterChains: []*listener.FilterChain{{
		Filters: []*listener.Filter{{Name: "http", ConfigType: &listener.Filter_TypedConfig{TypedConfig: manager}}},
	}}}
	all := map[string][]*anypb.Any{}
	for kind, messages := range map[string][]proto.Message{clusterType: clusters, endpointType: endpoints, routeType: {config}, listenerType: {http}} {
		for _, message := range messages {
			packed, err := anypb.New(message)
			if err != nil {
				return nil, err
			}
			all[kind] = append(all[kind], packed)
		}
	}
	return all, nil
}

func assignmentOf(name string, addresses []netip.AddrPort) *endpoint.ClusterLoadAssignment {
	locality := &endpoint.LocalityLbEndpoints{}
	for _, address := range addresses {
		locality.LbEndpoints = append(locality.LbEndpoints, &endpoint.LbEndpoint{
			HostIdentifier: &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{Address: addressOf(address)}},
		})
	}
	return &endpoint.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpoint.LocalityLbEndpoints{locality}}
}

func addressOf(address netip.AddrPort) *core.Address {
	return &core.Address{Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{
		Address: address.Addr().String(), PortSpecifier: &core.SocketAddress_PortValue{PortValue: uint32(address.Port())},
	}}}
}
