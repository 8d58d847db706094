package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// anyLocation tells whether some location is as is wanted.
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

// buildOpentelemetry is what holds for all locations that are traced.
func buildOpentelemetry(config *cfg, servers []*model.Server) string {
	if config.OpentelemetryOperationName == "" || !shouldLoadOpentelemetryModule(config, servers) {
		return ""
	}
	return fmt.Sprintf("opentelemetry_operation_name %s;", quote(config.OpentelemetryOperationName))
}

// buildOpentelemetryForLocation is what a location says of its tracing, over
// what holds for all.
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

// Where ingress-nginx's image has the rules of ModSecurity.
const (
	modSecurityRules = "/etc/nginx/modsecurity/modsecurity.conf"
	modSecurityCRS   = "/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"
)

// buildModSecurityForLocation is what a location says of its firewall, over
// what holds for all. Rules of its own replace the recommended ones, but not
// OWASP's, which the ConfigMap's enable-owasp-modsecurity-crs loads for all only
// where enable-modsecurity is on.
func buildModSecurityForLocation(config *cfg, location *model.Location) string {
	return modSecurityOf(config, location, func(file string) string { return file })
}

func modSecurityOf(config *cfg, location *model.Location, path func(string) string) string {
	own := location.ModSecurity
	switch {
	case own.EnableSet && !own.Enable:
		if config.EnableModsecurity {
			return "modsecurity off;"
		}
		return ""
	case !config.EnableModsecurity && !own.Enable:
		return ""
	}
	var lines []string
	if !config.EnableModsecurity {
		lines = append(lines, "modsecurity on;")
	}
	if own.Snippet != "" {
		lines = append(lines, "modsecurity_rules '\n"+inSingleQuotes(own.Snippet)+"\n';")
	}
	if own.TransactionID != "" {
		lines = append(lines, fmt.Sprintf("modsecurity_transaction_id %s;", quote(own.TransactionID)))
	}
	if own.Snippet == "" && !config.EnableModsecurity {
		lines = append(lines, "modsecurity_rules_file "+path(modSecurityRules)+";")
	}
	if own.OWASPRules && !(config.EnableModsecurity && config.EnableOWASPCoreRules) {
		lines = append(lines, "modsecurity_rules_file "+path(modSecurityCRS)+";")
	}
	return strings.Join(lines, "\n")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

var unescaped = regexp.MustCompile(`\\(?s:.)|'`)

// inSingleQuotes keeps text from ending them.
func inSingleQuotes(text string) string {
	return unescaped.ReplaceAllStringFunc(text, func(found string) string {
		if found == "'" {
			return `\'`
		}
		return found
	})
}
