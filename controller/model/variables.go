package model

import (
	"regexp"
	"strings"
)

// nginxVariables are those that nginx and our nginx.conf always have; names
// that begin with one of nginxPrefixes are there for any rest.
var nginxVariables = words(`args binary_remote_addr body_bytes_sent bytes_sent connection connection_requests connection_time
	content_length content_type document_root document_uri host hostname https is_args limit_rate msec nginx_version pid pipe
	proxy_protocol_addr proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port query_string realpath_root
	remote_addr remote_port remote_user request request_body request_body_file request_completion request_filename request_id
	request_length request_method request_time request_uri scheme server_addr server_name server_port server_protocol status
	time_iso8601 time_local uri
	upstream_addr upstream_bytes_received upstream_bytes_sent upstream_cache_status upstream_connect_time upstream_header_time
	upstream_response_length upstream_response_time upstream_status proxy_add_x_forwarded_for proxy_port
	realip_remote_addr realip_remote_port gzip_ratio fastcgi_script_name fastcgi_path_info limit_conn_status limit_req_status
	ssl_cipher ssl_ciphers ssl_client_cert ssl_client_escaped_cert ssl_client_fingerprint ssl_client_i_dn ssl_client_raw_cert
	ssl_client_s_dn ssl_client_serial ssl_client_v_end ssl_client_v_remain ssl_client_v_start ssl_client_verify ssl_curves
	ssl_early_data ssl_protocol ssl_server_name ssl_session_id ssl_session_reused
	namespace ingress_name service_name service_port location_path proxy_upstream_name proxy_alternative_upstream_name proxy_host
	pass_access_scheme pass_server_port pass_port best_http_host connection_upgrade req_id literal_dollar loggable`)

var nginxPrefixes = strings.Fields("arg_ cookie_ http_ sent_http_ sent_trailer_ upstream_http_ upstream_cookie_ upstream_trailer_")

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

func isVariable(name string, further map[string]bool) bool {
	if nginxVariables[name] || further[name] {
		return true
	}
	for _, prefix := range nginxPrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return true
		}
	}
	return false
}

// reference is a dollar and what nginx takes for its variable: a capture's
// number, a name, or a name in braces.
var reference = regexp.MustCompile(`\$(?:[1-9]|\{(\w+)\}|(\w+)|)`)

// withKnownVariables has a dollar for each dollar that nginx would take for a
// variable it does not have, and would refuse: those, as they were written.
func withKnownVariables(text string, further map[string]bool) (known string, unknown []string) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	known = reference.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found[1:], "{}")
		if len(found) == 2 && found[1] >= '1' && found[1] <= '9' || name != "" && isVariable(name, further) {
			return found
		}
		unknown = append(unknown, found)
		return "${literal_dollar}" + found[1:]
	})
	return known, unknown
}

var (
	mentioned = regexp.MustCompile(`\$\{?(\w+)`)
	captured  = regexp.MustCompile(`\(\?P?[<'](\w+)[>']`)
)

// furtherVariables are those that snippets mention, which may define them, and
// the captures that patterns name.
func (b *builder) furtherVariables() map[string]bool {
	config := b.options.Config
	further := make(map[string]bool)
	from := func(re *regexp.Regexp, text string) {
		for _, match := range re.FindAllStringSubmatch(text, -1) {
			further[match[1]] = true
		}
	}
	for _, snippet := range []string{config.MainSnippet, config.HTTPSnippet, config.ServerSnippet, config.LocationSnippet} {
		from(mentioned, snippet)
	}
	for _, server := range b.servers {
		from(mentioned, server.ServerSnippet)
		for _, alias := range server.Aliases {
			from(captured, alias)
		}
		for _, location := range server.Locations {
			from(mentioned, location.ConfigurationSnippet)
			if location.isPattern() {
				from(captured, location.Path)
			}
		}
	}
	return further
}
