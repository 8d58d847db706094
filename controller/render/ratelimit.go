package render

import (
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// filterRateLimits returns the limits of all locations, one per ingress, because the locations of
// an ingress share counters.
func filterRateLimits(servers []*model.Server) []annotations.RateLimit {
	var limits []annotations.RateLimit
	seen := make(map[string]bool)
	for _, server := range servers {
		for _, location := range server.Locations {
			limit := location.RateLimit
			if limit.ID != "" && !seen[limit.ID] {
				seen[limit.ID] = true
				limits = append(limits, limit)
			}
		}
	}
	return limits
}

// buildRateLimitZones returns the shared memory zones in which requests are counted. $limit_ID is
// empty for clients that are exempt.
func buildRateLimitZones(servers []*model.Server) []string {
	zones := make(map[string]bool)
	for _, limit := range filterRateLimits(servers) {
		variable := "$limit_" + limit.ID
		if zone := limit.Connections; zone.Limit > 0 {
			zones[fmt.Sprintf("limit_conn_zone %s %s;", variable, parameter(fmt.Sprintf("zone=%s:%dm", zone.Name, zone.SharedSize)))] = true
		}
		if zone := limit.RPM; zone.Limit > 0 {
			zones[fmt.Sprintf("limit_req_zone %s %s rate=%dr/m;", variable, parameter(fmt.Sprintf("zone=%s:%dm", zone.Name, zone.SharedSize)), zone.Limit)] = true
		}
		if zone := limit.RPS; zone.Limit > 0 {
			zones[fmt.Sprintf("limit_req_zone %s %s rate=%dr/s;", variable, parameter(fmt.Sprintf("zone=%s:%dm", zone.Name, zone.SharedSize)), zone.Limit)] = true
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

// buildRateLimit returns the directives that apply the limits to a location.
func buildRateLimit(location *model.Location) []string {
	limit := location.RateLimit
	var lines []string
	if limit.Connections.Limit > 0 {
		lines = append(lines, fmt.Sprintf("limit_conn %s %d;", parameter(limit.Connections.Name), limit.Connections.Limit))
	}
	for _, zone := range []annotations.Zone{limit.RPS, limit.RPM} {
		if zone.Limit > 0 {
			lines = append(lines, fmt.Sprintf("limit_req %s%s nodelay;", parameter("zone="+zone.Name), burst(zone)))
		}
	}
	if limit.LimitRateAfter > 0 {
		lines = append(lines, fmt.Sprintf("limit_rate_after %dk;", limit.LimitRateAfter))
	}
	if limit.LimitRate > 0 {
		lines = append(lines, fmt.Sprintf("limit_rate %dk;", limit.LimitRate))
	}
	return lines
}

// burst returns the parameter for the number of excess requests at once. nginx rejects 0, so 0
// omits it.
func burst(zone annotations.Zone) string {
	if zone.Burst <= 0 {
		return ""
	}
	return fmt.Sprintf(" burst=%d", zone.Burst)
}
