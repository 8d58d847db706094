package options

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`\$(?:[A-Za-z0-9_]+|\{[A-Za-z0-9_]+\})`)

// HasVariablesOnly reports whether each dollar sign in text begins a variable name in nginx's
// syntax. Only nginx knows whether the variable exists.
func HasVariablesOnly(text string) bool {
	return !strings.Contains(variable.ReplaceAllString(text, ""), "$")
}

// nginxVariables are the variables that nginx and our nginx.conf always have. Every
// name that starts with one of nginxPrefixes is a variable as well.
var nginxVariables = words(`args binary_remote_addr body_bytes_sent bytes_sent connection connection_requests connection_time
	content_length content_type document_root document_uri host hostname https is_args limit_rate msec nginx_version pid pipe
	proxy_protocol_addr proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port query_string realpath_root
	remote_addr remote_port remote_user request request_body request_body_file request_completion request_filename request_id
	request_length request_method request_time request_uri scheme server_addr server_name server_port server_protocol status
	time_iso8601 time_local uri
	upstream_addr upstream_bytes_received upstream_bytes_sent upstream_cache_status upstream_connect_time upstream_header_time
	upstream_response_length upstream_response_time upstream_status proxy_add_x_forwarded_for proxy_port
	realip_remote_addr realip_remote_port gzip_ratio fastcgi_script_name fastcgi_path_info limit_conn_status limit_req_status
	upstream_cache_etag upstream_cache_last_modified
	ssl_cipher ssl_ciphers ssl_client_cert ssl_client_escaped_cert ssl_client_fingerprint ssl_client_i_dn ssl_client_i_dn_legacy ssl_client_raw_cert
	ssl_client_s_dn ssl_client_s_dn_legacy ssl_client_serial ssl_client_v_end ssl_client_v_remain ssl_client_v_start ssl_client_verify ssl_curves
	ssl_early_data ssl_protocol ssl_server_name ssl_session_id ssl_session_reused
	namespace ingress_name service_name service_port location_path proxy_upstream_name proxy_alternative_upstream_name proxy_host
	pass_access_scheme pass_server_port pass_port best_http_host connection_upgrade req_id literal_dollar loggable
	escaped_request_uri`)

var nginxPrefixes = strings.Fields("arg_ cookie_ http_ sent_http_ sent_trailer_ upstream_http_ upstream_cookie_ upstream_trailer_")

// variableGroup is a group of variables of which an nginx has all or none, depending on its
// version, its build options or a module.
type variableGroup struct {
	names  string
	since  string            // nginx version; empty for all versions
	module string            // as in package nginx; empty if no module must be loaded
	loads  func(Config) bool // whether nginx loads the module for each request
}

var variableGroups = []variableGroup{
	{names: "ssl_curve", since: "1.21.5"},
	{names: "ssl_alpn_protocol", since: "1.21.7"},
	{since: "1.23.2", names: `proxy_protocol_tlv_alpn proxy_protocol_tlv_authority proxy_protocol_tlv_unique_id proxy_protocol_tlv_netns
		proxy_protocol_tlv_ssl_version proxy_protocol_tlv_ssl_cn proxy_protocol_tlv_ssl_cipher proxy_protocol_tlv_ssl_sig_alg
		proxy_protocol_tlv_ssl_key_alg proxy_protocol_tlv_ssl_verify`},
	{names: "http3", since: "1.25.0"},
	{names: "request_port is_request_port", since: "1.29.3"},
	{names: "ssl_sigalg ssl_client_sigalg", since: "1.29.3"},
	{names: "ssl_ech_status ssl_ech_outer_server_name", since: "1.29.4"},
	{names: "http2"},
	{names: "connections_active connections_reading connections_waiting connections_writing"},
	{names: "tcpinfo_rtt tcpinfo_rttvar tcpinfo_snd_cwnd tcpinfo_rcv_space"},
	{names: "ancient_browser modern_browser msie"},
	{names: "date_gmt date_local"},
	{names: "uid_got uid_reset uid_set"},
	{names: "invalid_referer"},
	{names: "secure_link secure_link_expires"},
	{names: "slice_range"},
	{names: "brotli_ratio", module: "http_brotli_filter", loads: func(c Config) bool { return c.EnableBrotli }},
	{names: "opentelemetry_trace_id opentelemetry_span_id opentelemetry_context_traceparent opentelemetry_context_b3",
		module: "otel_ngx", loads: func(c Config) bool { return c.EnableOpentelemetry }},
}

// PossibleVariables returns the groups of variables that an nginx of a version, with some modules,
// may have, each by its first name, as in Options.Variables. It also returns the modules that they
// need.
func PossibleVariables(atLeast, hasModule func(string) bool) (names, modules []string) {
	for _, group := range variableGroups {
		if group.since != "" && !atLeast(group.since) || group.module != "" && !hasModule(group.module) {
			continue
		}
		names = append(names, group.first())
		if group.module != "" {
			modules = append(modules, group.module)
		}
	}
	return names, modules
}

// first returns the name that represents the group.
func (g variableGroup) first() string { return strings.Fields(g.names)[0] }

// FurtherVariables returns the variables besides those of IsVariable that this nginx has with this
// ConfigMap.
func (o Options) FurtherVariables() map[string]bool {
	further := make(map[string]bool)
	for _, group := range variableGroups {
		if slices.Contains(o.Variables, group.first()) && (group.loads == nil || group.loads(o.Config)) {
			maps.Copy(further, words(group.names))
		}
	}
	return further
}

// Variables returns the variables that nginx and our nginx.conf always have, sorted. It omits those
// that are known only by their prefix.
func Variables() []string { return slices.Sorted(maps.Keys(nginxVariables)) }

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// IsVariable reports whether every nginx with our nginx.conf has a variable of that name; see
// FurtherVariables for others.
func IsVariable(name string) bool {
	if nginxVariables[name] {
		return true
	}
	for _, prefix := range nginxPrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return true
		}
	}
	return false
}
