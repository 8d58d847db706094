package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// documented are the variables that nginx's documentation lists, by module, and those of modules
// that nginx may load.
var documented = strings.Fields(`
	ancient_browser modern_browser msie
	args arg_a binary_remote_addr body_bytes_sent bytes_sent connection connection_requests connection_time content_length content_type cookie_a
	document_root document_uri host hostname http_a https is_args is_request_port limit_rate msec nginx_version pid pipe
	proxy_protocol_addr proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port proxy_protocol_tlv_alpn proxy_protocol_tlv_ssl_cn
	query_string realpath_root remote_addr remote_port remote_user request request_body request_body_file request_completion request_filename
	request_id request_length request_method request_port request_time request_uri scheme sent_http_a sent_trailer_a server_addr server_name
	server_port server_protocol status tcpinfo_rtt tcpinfo_rttvar tcpinfo_snd_cwnd tcpinfo_rcv_space time_iso8601 time_local uri
	fastcgi_path_info fastcgi_script_name gzip_ratio geoip_country_code geoip_city memcached_key
	limit_conn_status limit_req_status invalid_referer proxy_add_x_forwarded_for proxy_host proxy_port realip_remote_addr realip_remote_port
	secure_link secure_link_expires session_log_id slice_range date_local date_gmt
	ssl_alpn_protocol ssl_cipher ssl_ciphers ssl_client_cert ssl_client_escaped_cert ssl_client_fingerprint ssl_client_i_dn ssl_client_i_dn_legacy
	ssl_client_raw_cert ssl_client_s_dn ssl_client_s_dn_legacy ssl_client_serial ssl_client_sigalg ssl_client_v_end ssl_client_v_remain
	ssl_client_v_start ssl_client_verify ssl_curve ssl_curves ssl_early_data ssl_ech_status ssl_ech_outer_server_name ssl_protocol ssl_server_name
	ssl_session_id ssl_session_reused ssl_sigalg connections_active connections_reading connections_waiting connections_writing
	upstream_addr upstream_bytes_received upstream_bytes_sent upstream_cache_age upstream_cache_etag upstream_cache_key upstream_cache_last_modified
	upstream_cache_status upstream_connect_time upstream_cookie_a upstream_header_time upstream_http_a upstream_last_server_name
	upstream_queue_time upstream_response_length upstream_response_time upstream_status upstream_trailer_a uid_got uid_reset uid_set http2 http3
	brotli_ratio opentelemetry_trace_id opentelemetry_span_id opentelemetry_context_traceparent opentelemetry_context_b3`)

// The options know a documented variable if and only if nginx does.
func TestDocumentedVariables(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"enable-brotli": "true", "enable-opentelemetry": "true"})
	names, modules := options.PossibleVariables(program.AtLeast, program.Has)
	exist, err := program.Variables(documented, modules)
	if err != nil {
		t.Fatal(err)
	}
	if in.Options.Variables, err = program.Variables(names, modules); err != nil {
		t.Fatal(err)
	}
	further := in.Options.FurtherVariables()
	for _, name := range documented {
		known, exists := options.IsVariable(name) || further[name], slices.Contains(exist, name)
		if known != exists {
			t.Errorf("$%s: nginx has it: %t, the options know it: %t", name, exists, known)
		}
	}
	in.Options.Config.EnableBrotli, in.Options.Config.EnableOpentelemetry = false, false
	if further = in.Options.FurtherVariables(); further["brotli_ratio"] || further["opentelemetry_trace_id"] {
		t.Error("variables of modules that nginx does not load are known")
	}
}

// nginx has each variable that the options know, in a location of our nginx.conf.
func TestKnownVariablesExist(t *testing.T) {
	t.Parallel()
	in, program := here(t, nil)
	var err error
	if in.Options.Variables, err = program.Variables(options.PossibleVariables(program.AtLeast, program.Has)); err != nil {
		t.Fatal(err)
	}
	known := in.Options.FurtherVariables()
	for _, name := range options.Variables() {
		known[name] = true
	}
	var snippet strings.Builder
	i := 0
	for name := range known {
		fmt.Fprintf(&snippet, "set $known_%d $%s;\n", i, name)
		i++
	}
	taken(t, hosts(in, model.Endpoint{Address: "127.0.0.1", Port: "1"}, map[string]func(*model.Location){
		"all.example": func(l *model.Location) { l.ConfigurationSnippet = snippet.String() },
	}), in, program)
}
