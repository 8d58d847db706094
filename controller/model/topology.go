package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// hints describes whether traffic to a service stays in the controller's zone.
type hints struct {
	zone string // empty if traffic may leave the zone
	// fallback means that all endpoints of a slice are used if none is for the zone.
	fallback bool
}

// hintsOf reads the setting of a service: trafficDistribution or, in older clusters, an annotation
// (Service API).
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

// in returns a filter for the endpoints of a slice that are for the zone. Hints count only if all
// endpoints of the slice have one; otherwise they are incomplete (EndpointSlice API).
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
