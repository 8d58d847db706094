package options

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	mentioned = regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`)
	number    = regexp.MustCompile(`^[1-9]$`)
)

// ofModules are prefixes of variables from optional nginx modules.
var ofModules = strings.Fields("geoip2_ geoip_ opentelemetry_ otel_ modsecurity_ opentracing_ jaeger_ zipkin_ datadog_ jwt_")

// ofStream are the variables for TCP and UDP (ngx_stream_core_module and others).
var ofStream = words(`binary_remote_addr bytes_received bytes_sent connection hostname msec nginx_version pid protocol proxy_protocol_addr
	proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port proxy_upstream_name realip_remote_addr realip_remote_port remote_addr remote_port
	server_addr server_port session_time status time_iso8601 time_local upstream_addr upstream_bytes_received upstream_bytes_sent upstream_connect_time
	upstream_first_byte_time upstream_session_time ssl_preread_server_name ssl_preread_alpn_protocols ssl_preread_protocol`)

// withoutVariables are the kinds of texts in which a dollar sign is literal.
var withoutVariables = strings.Fields("mapkey regexes ciphers curves")

// KeepUsable replaces values that contain an unknown variable by their defaults, because nginx
// would reject the whole configuration. Snippets of the ConfigMap, and a user's template, may
// define any variable. A global-auth-url that names a protected port is replaced by one that
// denies every request.
func (o Options) KeepUsable(defaults Config) (Options, []Problem) {
	var problems []Problem
	if o.Ports.NamesProtected(o.Config.GlobalAuthURL) {
		problems = append(problems, Problem{Key: globalAuthURL, Value: o.Config.GlobalAuthURL, Reason: ProtectedReason, Used: denied})
		o.Config.GlobalAuthURL = Unanswered
	}
	if o.ForeignTemplate {
		return o, problems
	}
	problems = append(problems, o.unreadTracers(defaults)...)
	defined := o.FurtherVariables()
	for _, snippet := range o.Config.snippets() {
		for _, name := range variablesOf(snippet) {
			defined[name] = true
		}
	}
	for _, key := range table {
		text := key.show(&o.Config)
		if !strings.Contains(text, "$") || text == key.show(&defaults) || key.withoutVariables() {
			continue
		}
		if unknown := key.unknownVariable(key.withoutPattern(text), defined); unknown != "" {
			problems = append(problems, Problem{
				Key: key.Name, Value: text, Reason: fmt.Sprintf("nginx has no variable %s", unknown), Used: key.giveUp(&o.Config, defaults),
			})
		}
	}
	return o, problems
}

func (k Key) withoutVariables() bool {
	return strings.HasSuffix(k.Name, "-snippet") || slices.Contains(withoutVariables, k.tags.Get("kind"))
}

// withoutPattern returns a text without its first word if nginx reads that word as a pattern, in
// which a dollar sign does not begin a variable.
func (k Key) withoutPattern(text string) string {
	if !slices.Contains([]string{"pair", "redirected"}, k.tags.Get("kind")) || !strings.HasPrefix(text, "~") {
		return text
	}
	_, rest, _ := strings.Cut(text, " ")
	return rest
}

// unknownVariable returns the first variable in a text that nginx would reject; empty if there is
// none.
func (k Key) unknownVariable(text string, defined map[string]bool) string {
	if !HasVariablesOnly(text) {
		return "$"
	}
	for _, name := range variablesOf(text) {
		known := IsVariable(name) || slices.ContainsFunc(ofModules, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if strings.HasSuffix(k.Name, "-stream") {
			known = ofStream[name]
		}
		if !known && !defined[name] && !number.MatchString(name) {
			return "$" + name
		}
	}
	return ""
}

// variablesOf returns the variable names in a text.
func variablesOf(text string) []string {
	var names []string
	for _, match := range mentioned.FindAllStringSubmatch(text, -1) {
		names = append(names, match[1]+match[2])
	}
	return names
}
