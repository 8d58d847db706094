package render

import (
	"fmt"
	"slices"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Modules that only some configurations need. The names are those of package nginx.
const (
	authDigest    = "http_auth_digest"
	brotliFilter  = "http_brotli_filter"
	brotliStatic  = "http_brotli_static"
	geoIP2        = "http_geoip2"
	headersMore   = "http_headers_more_filter"
	modSecurity   = "http_modsecurity"
	opentelemetry = "otel_ngx"
	threads       = "threads" // not a module but a build option
)

// OptionalModules returns the modules that Input.Optional can contain.
func OptionalModules() []string {
	return []string{authDigest, brotliFilter, brotliStatic, geoIP2, headersMore, modSecurity, opentelemetry, threads}
}

func (in Input) has(module string) bool {
	_, ok := in.Optional[module]
	return ok
}

// use describes which settings need a module, and the effect if it is missing.
type use struct {
	modules []string
	key     string // key of the ConfigMap to report; empty if only annotations need the module, or if its lack is not reported
	wanted  bool   // whether the ConfigMap needs it
	by      func(*model.Location) bool
	without string
	told    bool // other code reports the annotations that need it
}

func uses(c options.Config) []use {
	return []use{
		{[]string{geoIP2}, "use-geoip2", c.UseGeoIP2, nil, "there are no $geoip2 variables", false},
		{[]string{brotliFilter, brotliStatic}, "enable-brotli", c.EnableBrotli, nil, "responses are not compressed with it", false},
		{[]string{modSecurity}, "enable-modsecurity", c.EnableModsecurity, func(l *model.Location) bool { return l.ModSecurity.Enable }, "requests are not inspected", true},
		{[]string{opentelemetry}, "enable-opentelemetry", c.EnableOpentelemetry, func(l *model.Location) bool { return l.Opentelemetry.Enabled }, "requests are not traced", false},
		{[]string{headersMore}, "", !c.ShowServerTokens, nil, "the header Server stays", true},
		{[]string{authDigest}, "", false, asksForDigest, "its locations answer 503, because nobody could log in", false},
	}
}

func asksForDigest(l *model.Location) bool {
	return l.BasicDigestAuth.Secured && l.BasicDigestAuth.Type == "digest"
}

func (u use) of(servers []*model.Server) bool {
	return u.wanted || u.by != nil && anyLocation(servers, u.by)
}

// modules returns the files for load_module lines, and the optional modules that are loaded.
func modules(servers []*model.Server, c *cfg, in Input) (files, loaded []string) {
	files = slices.Clone(in.Modules)
	for _, u := range uses(c.Config) {
		if !u.of(servers) {
			continue
		}
		for _, name := range u.modules {
			if in.has(name) {
				loaded = append(loaded, name)
			}
			for _, file := range in.Optional[name] {
				if !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
	}
	return files, loaded
}

// Findings reports the settings of m and of the options that have no effect because nginx lacks a
// module or a file.
func Findings(m *model.Model, in Input) []model.Finding {
	var findings []model.Finding
	for _, u := range uses(in.Options.Config) {
		i := slices.IndexFunc(u.modules, func(name string) bool { return !in.has(name) })
		if i < 0 {
			continue
		}
		reason := fmt.Sprintf("this nginx has no module %s; %s", u.modules[i], u.without)
		if u.wanted && u.key != "" {
			findings = append(findings, model.Finding{Object: "ConfigMap of the controller", Key: u.key, Reason: reason})
		}
		if u.told {
			continue
		}
		for _, object := range askers(m.Servers, u.by) {
			findings = append(findings, model.Finding{Object: object, Reason: reason})
		}
	}
	return slices.Concat(findings, firewallFindings(m, in), streamFindings(m, in))
}

// askers returns the ingresses that have a location for which by returns true.
func askers(servers []*model.Server, by func(*model.Location) bool) []string {
	if by == nil {
		return nil
	}
	var objects []string
	seen := make(map[string]bool)
	for _, server := range servers {
		for _, location := range server.Locations {
			if location.Ingress == nil || !by(location) {
				continue
			}
			object := fmt.Sprintf("Ingress %s/%s", location.Ingress.Namespace, location.Ingress.Name)
			if !seen[object] {
				seen[object] = true
				objects = append(objects, object)
			}
		}
	}
	return objects
}
