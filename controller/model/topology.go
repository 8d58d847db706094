package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// hints say whether traffic to a service keeps to its zone, and to which.
type hints struct {
	zone string // empty: it does not
	// fallback takes all endpoints of a slice that has none for the zone.
	fallback bool
}

// hintsOf reads a service's wish: its trafficDistribution or, of older clusters,
// an annotation (Service API).
func hintsOf(service *corev1.Service, zone string) hints {
	switch wish := service.Spec.TrafficDistribution; {
	case zone == "":
	case wish != nil && (*wish == corev1.ServiceTrafficDistributionPreferClose || *wish == corev1.ServiceTrafficDistributionPreferSameZone):
		return hints{zone: zone, fallback: true}
	case strings.EqualFold(service.Annotations[corev1.AnnotationTopologyMode], "auto"):
		return hints{zone: zone}
	}
	return hints{}
}

// in tells which endpoints of a slice are near. Hints count only when all of a
// slice have one: otherwise they are not complete (EndpointSlice API).
func (h hints) in(slice *discoveryv1.EndpointSlice) func(discoveryv1.Endpoint) bool {
	everywhere := func(discoveryv1.Endpoint) bool { return true }
	if h.zone == "" {
		return everywhere
	}
	for _, endpoint := range slice.Endpoints {
		if endpoint.Hints == nil || len(endpoint.Hints.ForZones) == 0 {
			return everywhere
		}
	}
	if h.fallback && !slices.ContainsFunc(slice.Endpoints, h.match) {
		return everywhere
	}
	return h.match
}

func (h hints) match(endpoint discoveryv1.Endpoint) bool {
	return slices.ContainsFunc(endpoint.Hints.ForZones, func(z discoveryv1.ForZone) bool { return z.Name == h.zone })
}
