package options

import (
	"regexp"
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
	ssl_cipher ssl_ciphers ssl_client_cert ssl_client_escaped_cert ssl_client_fingerprint ssl_client_i_dn ssl_client_raw_cert
	ssl_client_s_dn ssl_client_serial ssl_client_v_end ssl_client_v_remain ssl_client_v_start ssl_client_verify ssl_curves
	ssl_early_data ssl_protocol ssl_server_name ssl_session_id ssl_session_reused
	namespace ingress_name service_name service_port location_path proxy_upstream_name proxy_alternative_upstream_name proxy_host
	pass_access_scheme pass_server_port pass_port best_http_host connection_upgrade req_id literal_dollar loggable
	escaped_request_uri`)

var nginxPrefixes = strings.Fields("arg_ cookie_ http_ sent_http_ sent_trailer_ upstream_http_ upstream_cookie_ upstream_trailer_")

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// IsVariable reports whether nginx with our nginx.conf has a variable of that name.
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
