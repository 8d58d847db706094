package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// The paths of ModSecurity's rules in ingress-nginx's image.
const (
	modSecurityRules = "/etc/nginx/modsecurity/modsecurity.conf"
	modSecurityCRS   = "/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"
)

// FirewallFiles returns the files that Input.Missing can contain.
func FirewallFiles() []string { return []string{modSecurityRules, modSecurityCRS} }

// lacks reports whether a file of ingress-nginx's image does not exist here.
func (in Input) lacks(file string) bool { return slices.Contains(in.Missing, file) }

func (in Input) missing(file string) string { return "there is no file " + in.Options.Path(file) }

// globalFirewall turns off the ConfigMap's ModSecurity settings that lack a file, because nginx
// would reject the whole configuration. It returns the reason, or "" if it turned off none.
func (in Input) globalFirewall(c *options.Config) string {
	wantsOWASP := c.EnableModsecurity && c.EnableOWASPCoreRules
	switch {
	case !c.EnableModsecurity:
		return ""
	case !in.has(modSecurity):
		c.EnableModsecurity = false
		return "" // Findings reports missing modules
	case c.ModsecuritySnippet == "" && in.lacks(modSecurityRules):
		c.EnableModsecurity = false
		return in.missing(modSecurityRules) + "; requests are not inspected"
	case wantsOWASP && in.lacks(modSecurityCRS):
		c.EnableOWASPCoreRules = false
		return in.missing(modSecurityCRS) + "; OWASP's rules are left out"
	}
	return ""
}

// asksForFirewall reports whether a location's annotations request more ModSecurity than the
// ConfigMap does.
func asksForFirewall(c options.Config, location *model.Location) bool {
	own := location.ModSecurity
	return own.Enable || !own.EnableSet && c.EnableModsecurity && (own.OWASPRules || own.Snippet != "")
}

// firewallLacks returns what the ModSecurity settings in a location's annotations lack, or "". A
// location that lacks something is not served.
func (r *root) firewallLacks(location *model.Location) string {
	own := location.ModSecurity
	switch {
	case !asksForFirewall(r.in.Options.Config, location):
		return ""
	case !r.Has(modSecurity):
		return "this nginx has no module " + modSecurity
	case !r.Cfg.EnableModsecurity && (own.Snippet == "" || !own.Enable) && r.in.lacks(modSecurityRules):
		return r.in.missing(modSecurityRules)
	case own.OWASPRules && !(r.Cfg.EnableModsecurity && r.Cfg.EnableOWASPCoreRules) && r.in.lacks(modSecurityCRS):
		return r.in.missing(modSecurityCRS)
	}
	return ""
}

// firewallFindings reports missing modules and files of ModSecurity.
func firewallFindings(m *model.Model, in Input) []model.Finding {
	var findings []model.Finding
	config := in.Options.Config
	if reason := in.globalFirewall(&config); reason != "" {
		findings = append(findings, model.Finding{Object: "ConfigMap of the controller", Key: "enable-modsecurity", Reason: reason})
	}
	r := &root{Cfg: &cfg{Config: config}, in: in}
	for _, lacking := range []string{"this nginx has no module " + modSecurity, in.missing(modSecurityRules), in.missing(modSecurityCRS)} {
		for _, object := range askers(m.Servers, func(l *model.Location) bool { return r.firewallLacks(l) == lacking }) {
			findings = append(findings, model.Finding{Object: object, Reason: lacking + "; locations with ModSecurity answer 503"})
		}
	}
	return findings
}

// buildModSecurityForLocation returns a location's ModSecurity directives, in addition to those of
// the http block. Own rules replace the recommended ones, but not OWASP's.
// enable-owasp-modsecurity-crs in the ConfigMap loads OWASP's rules for all locations only if
// enable-modsecurity is on.
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

var unescaped = regexp.MustCompile(`\\(?s:.)|'`)

// inSingleQuotes escapes text for single quotes.
func inSingleQuotes(text string) string {
	return unescaped.ReplaceAllStringFunc(text, func(found string) string {
		if found == "'" {
			return `\'`
		}
		return found
	})
}
