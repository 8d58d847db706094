package render

import (
	"cmp"
	"maps"
	"slices"

	"windtunnel.dev/controller/model"
)

// customErrors is the dot of the template CUSTOM_ERRORS, which writes the locations in which an
// upstream answers errors.
type customErrors struct {
	UpstreamName       string
	ErrorCodes         []int
	EnableMetrics      bool
	ModsecurityEnabled bool
}

func buildCustomErrorDeps(upstream string, codes []int, metrics, modSecurity bool) customErrors {
	return customErrors{upstream, codes, metrics, modSecurity}
}

// errorUpstream is an upstream and the statuses that it answers.
type errorUpstream struct {
	UpstreamName string
	Codes        []int
}

// buildCustomErrorLocationsPerServer returns the upstreams that answer the errors of locations with
// custom-http-errors, sorted by name.
func buildCustomErrorLocationsPerServer(server *model.Server) []errorUpstream {
	return errorUpstreams(server, nil)
}

// errorUpstreams does the same and adds the statuses of ofAll, which the default backend answers.
// answers.
func errorUpstreams(server *model.Server, ofAll []int) []errorUpstream {
	codes := make(map[string]map[int]bool)
	add := func(upstream string, code int) {
		if codes[upstream] == nil {
			codes[upstream] = make(map[int]bool)
		}
		codes[upstream][code] = true
	}
	for _, code := range ofAll {
		add(model.DefaultBackendName, code)
	}
	for _, location := range server.Locations {
		for _, code := range location.CustomHTTPErrors {
			add(errorUpstreamOf(location), code)
		}
	}
	var upstreams []errorUpstream
	for _, name := range slices.Sorted(maps.Keys(codes)) {
		upstreams = append(upstreams, errorUpstream{name, slices.Sorted(maps.Keys(codes[name]))})
	}
	return upstreams
}

// errorUpstreamOf returns the upstream that answers a location's errors.
func errorUpstreamOf(location *model.Location) string {
	return cmp.Or(location.DefaultBackendUpstreamName, model.DefaultBackendName)
}

// headerValue is a header of a request and nginx's value for it.
type headerValue struct{ Name, Value string }

// AboutError returns the headers that identify the failed request to a service. The status is in
// X-Code.
func (r *root) AboutError() []headerValue {
	return []headerValue{
		{"X-Format", "$http_accept"},
		{"X-Original-URI", "$request_uri"},
		{"X-Namespace", "$namespace"},
		{"X-Ingress-Name", "$ingress_name"},
		{"X-Service-Name", "$service_name"},
		{"X-Service-Port", "$service_port"},
	}
}
