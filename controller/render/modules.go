package render

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// anyLocation reports whether wanted returns true for any location.
func anyLocation(servers []*model.Server, wanted func(*model.Location) bool) bool {
	return slices.ContainsFunc(servers, func(s *model.Server) bool { return slices.ContainsFunc(s.Locations, wanted) })
}

func shouldLoadAuthDigestModule(servers []*model.Server) bool {
	return anyLocation(servers, asksForDigest)
}

func shouldLoadModSecurityModule(config *cfg, servers []*model.Server) bool {
	return config.EnableModsecurity || anyLocation(servers, func(l *model.Location) bool { return l.ModSecurity.Enable })
}

func shouldLoadOpentelemetryModule(config *cfg, servers []*model.Server) bool {
	return config.EnableOpentelemetry || anyLocation(servers, func(l *model.Location) bool { return l.Opentelemetry.Enabled })
}

// buildOpentelemetry returns the tracing directives for all locations.
func buildOpentelemetry(config *cfg, servers []*model.Server) string {
	if config.OpentelemetryOperationName == "" || !shouldLoadOpentelemetryModule(config, servers) {
		return ""
	}
	return fmt.Sprintf("opentelemetry_operation_name %s;", quote(config.OpentelemetryOperationName))
}

// buildOpentelemetryForLocation returns a location's tracing directives, in addition to those of
// the http block.
func buildOpentelemetryForLocation(on, trust bool, location *model.Location) string {
	own := location.Opentelemetry
	switch {
	case on && own.Set && !own.Enabled:
		return "opentelemetry off;"
	case !on && !own.Enabled:
		return ""
	}
	lines := []string{"opentelemetry on;", "opentelemetry_propagate;"}
	if own.OperationName != "" {
		lines = append(lines, fmt.Sprintf("opentelemetry_operation_name %s;", quote(own.OperationName)))
	}
	if own.TrustSet {
		trust = own.TrustEnabled
	}
	return strings.Join(append(lines, fmt.Sprintf("opentelemetry_trust_incoming_spans %s;", onOff(trust))), "\n")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
