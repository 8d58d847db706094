package adapterstest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The types of xDS resources.
const (
	clusterType  = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	endpointType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	listenerType = "type.googleapis.com/envoy.config.listener.v3.Listener"
	routeType    = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
)

// largestMessage is the maximum size of a message of xDS, in bytes.
const largestMessage = 64 << 20

// xds is a client of a control plane: one aggregated stream, with the state of the world in each
// response (https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol).
type xds struct {
	stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesClient
	node   *core.Node
	last   map[string]*discovery.DiscoveryResponse // by type
	names  map[string][]string                     // of the requested resources, by type; none means all

	listeners map[string]*listener.Listener
	routes    map[string]*route.RouteConfiguration
	clusters  map[string]*cluster.Cluster
	endpoints map[string]*endpoint.ClusterLoadAssignment
}

// follow takes configurations from a control plane, and hands each to apply: the routes by the address
// of their listener, and what is ignored. It returns when the stream ends.
func follow(ctx context.Context, server, id, group string, apply func(routes map[string][]Route, ignored []string) error) error {
	connection, err := grpc.NewClient(server, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage)))
	if err != nil {
		return err
	}
	defer connection.Close()
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(connection).StreamAggregatedResources(ctx)
	if err != nil {
		return err
	}
	x := &xds{
		stream: stream, node: &core.Node{Id: id, Cluster: group}, last: map[string]*discovery.DiscoveryResponse{}, names: map[string][]string{},
		listeners: map[string]*listener.Listener{}, routes: map[string]*route.RouteConfiguration{},
		clusters: map[string]*cluster.Cluster{}, endpoints: map[string]*endpoint.ClusterLoadAssignment{},
	}
	for _, kind := range []string{clusterType, listenerType} {
		if err := x.ask(kind); err != nil {
			return err
		}
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := x.take(response); err != nil {
			return err
		}
		if x.last[clusterType] == nil || x.last[listenerType] == nil {
			continue
		}
		if err := apply(x.configuration()); err != nil {
			return err
		}
	}
}

// ask requests the resources of a type, and acknowledges the last response.
func (x *xds) ask(kind string) error {
	last := x.last[kind]
	return x.stream.Send(&discovery.DiscoveryRequest{
		Node: x.node, TypeUrl: kind, ResourceNames: x.names[kind], VersionInfo: last.GetVersionInfo(), ResponseNonce: last.GetNonce(),
	})
}

// subscribe requests resources by name, if the names have changed.
func (x *xds) subscribe(kind string, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 || slices.Equal(names, x.names[kind]) {
		return nil
	}
	x.names[kind] = names
	return x.ask(kind)
}

// take keeps the resources of a response and accepts it.
func (x *xds) take(response *discovery.DiscoveryResponse) error {
	var err error
	switch response.TypeUrl {
	case clusterType:
		x.clusters, err = unpack(response, (*cluster.Cluster).GetName)
	case listenerType:
		x.listeners, err = unpack(response, (*listener.Listener).GetName)
	case endpointType: // a response may omit unchanged resources
		err = merge(x.endpoints, response, (*endpoint.ClusterLoadAssignment).GetClusterName)
	case routeType:
		err = merge(x.routes, response, (*route.RouteConfiguration).GetName)
	default:
		return fmt.Errorf("resources of another type: %s", response.TypeUrl)
	}
	if err != nil {
		return err
	}
	x.last[response.TypeUrl] = response
	if err := x.ask(response.TypeUrl); err != nil {
		return err
	}
	switch response.TypeUrl {
	case clusterType:
		return x.subscribe(endpointType, x.endpointNames())
	case listenerType:
		return x.subscribe(routeType, x.routeNames())
	}
	return nil
}

// unpack returns the resources of a response by name.
func unpack[T any, M interface {
	*T
	proto.Message
}](response *discovery.DiscoveryResponse, name func(M) string) (map[string]M, error) {
	all := map[string]M{}
	return all, merge(all, response, name)
}

func merge[T any, M interface {
	*T
	proto.Message
}](all map[string]M, response *discovery.DiscoveryResponse, name func(M) string) error {
	for _, packed := range response.Resources {
		one := M(new(T))
		if err := anypb.UnmarshalTo(packed, one, proto.UnmarshalOptions{DiscardUnknown: true}); err != nil {
			return err
		}
		all[name(one)] = one
	}
	return nil
}

// endpointNames returns the names under which the clusters have their endpoints.
func (x *xds) endpointNames() (names []string) {
	for _, c := range x.clusters {
		if c.GetEdsClusterConfig() != nil {
			names = append(names, serviceName(c))
		}
	}
	return names
}

func serviceName(c *cluster.Cluster) string {
	return cmp.Or(c.GetEdsClusterConfig().GetServiceName(), c.Name)
}

// routeNames returns the names of the routes of all listeners.
func (x *xds) routeNames() (names []string) {
	for _, l := range x.listeners {
		if manager := managerOf(l); manager.GetRds() != nil {
			names = append(names, manager.GetRds().RouteConfigName)
		}
	}
	return names
}

// managerOf returns the HTTP connection manager of a listener for plain HTTP, nil for other listeners.
func managerOf(l *listener.Listener) *hcm.HttpConnectionManager {
	for _, chain := range l.FilterChains {
		if chain.TransportSocket != nil {
			continue
		}
		for _, filter := range chain.Filters {
			manager := &hcm.HttpConnectionManager{}
			if filter.GetTypedConfig().MessageIs(manager) && anypb.UnmarshalTo(filter.GetTypedConfig(), manager, proto.UnmarshalOptions{DiscardUnknown: true}) == nil {
				return manager
			}
		}
	}
	return nil
}

// configuration returns the routes by the address of their listener, and what is ignored.
func (x *xds) configuration() (all map[string][]Route, ignored []string) {
	all = map[string][]Route{}
	for _, name := range slices.Sorted(maps.Keys(x.listeners)) {
		l := x.listeners[name]
		manager := managerOf(l)
		if manager.GetRds() == nil {
			ignored = append(ignored, "listener "+name+": it is not one for plain HTTP with routes over xDS")
			continue
		}
		to := l.GetAddress().GetSocketAddress()
		address := fmt.Sprintf("%s:%d", to.GetAddress(), to.GetPortValue())
		all[address] = []Route{}
		for _, host := range x.routes[manager.GetRds().RouteConfigName].GetVirtualHosts() {
			routes, left := x.hostRoutes(host)
			all[address], ignored = append(all[address], routes...), append(ignored, left...)
		}
		slices.SortStableFunc(all[address], func(a, b Route) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	}
	return all, ignored
}

// hostRoutes returns the routes of a host.
func (x *xds) hostRoutes(host *route.VirtualHost) (all []Route, ignored []string) {
	for _, r := range host.Routes {
		prefix, isPrefix := prefixOf(r.GetMatch())
		clusters := clustersOf(r.GetRoute())
		if !isPrefix || len(clusters) == 0 {
			ignored = append(ignored, fmt.Sprintf("a route of %s that is not a prefix with clusters: %v", host.Name, r.GetMatch()))
			continue
		}
		var endpoints []netip.AddrPort
		for _, name := range clusters {
			if c := x.clusters[name]; c != nil {
				endpoints = append(endpoints, addresses(x.endpoints[serviceName(c)])...)
			}
		}
		for _, domain := range host.Domains {
			switch {
			case strings.Contains(domain, "*"):
				ignored = append(ignored, "domain "+domain)
			default:
				all = append(all, Route{Host: domain, Path: prefix, Endpoints: endpoints})
			}
		}
	}
	return all, ignored
}

func prefixOf(m *route.RouteMatch) (prefix string, ok bool) {
	switch p := m.GetPathSpecifier().(type) {
	case *route.RouteMatch_Prefix:
		return p.Prefix, true
	case *route.RouteMatch_PathSeparatedPrefix:
		return p.PathSeparatedPrefix, true
	}
	return "", false
}

func clustersOf(action *route.RouteAction) (names []string) {
	if name := action.GetCluster(); name != "" {
		return []string{name}
	}
	for _, one := range action.GetWeightedClusters().GetClusters() {
		if one.GetWeight().GetValue() > 0 {
			names = append(names, one.Name)
		}
	}
	return names
}

// addresses returns the healthy endpoints of a service.
func addresses(assignment *endpoint.ClusterLoadAssignment) (all []netip.AddrPort) {
	for _, locality := range assignment.GetEndpoints() {
		for _, one := range locality.GetLbEndpoints() {
			to := one.GetEndpoint().GetAddress().GetSocketAddress()
			ip, err := netip.ParseAddr(to.GetAddress())
			if health := one.GetHealthStatus(); err == nil && (health == core.HealthStatus_UNKNOWN || health == core.HealthStatus_HEALTHY) {
				all = append(all, netip.AddrPortFrom(ip, uint16(to.GetPortValue())))
			}
		}
	}
	return all
}
