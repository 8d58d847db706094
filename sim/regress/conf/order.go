package conf

import (
	"slices"
	"strings"
)

// Where the order of directives counts. Within a block, directives of different groups can stand in
// any order; directives of one group are executed, matched or sent in their order, unless the group
// is in anyOrder.

// groups has the groups of directives that nginx treats as one sequence. Any other directive is in
// the group of its name.
var groups = map[string]string{
	// ngx_http_rewrite_module runs these one after the other, and so does set-misc.
	"set": "rewrite", "if": "rewrite", "rewrite": "rewrite", "return": "rewrite", "break": "rewrite",
	"set_by_lua": "rewrite", "set_by_lua_block": "rewrite", "set_by_lua_file": "rewrite",
	"set_escape_uri": "rewrite", "set_unescape_uri": "rewrite", "set_md5": "rewrite", "set_if_empty": "rewrite",
	"set_encode_base64": "rewrite", "set_decode_base64": "rewrite", "set_random": "rewrite", "set_quote_sql_str": "rewrite",
	// ngx_http_access_module: the first rule that matches decides.
	"allow": "access", "deny": "access",
	// headers-more changes the headers in the order of its directives.
	"more_set_headers": "headers", "more_clear_headers": "headers",
	"more_set_input_headers": "input headers", "more_clear_input_headers": "input headers",
}

// anyOrder contains the groups whose directives name different things, so that their order does not
// matter. It also includes locations, servers and the entries of a map, except those for which
// ordered returns true.
var anyOrder = map[string]bool{
	"location": true, "server": true, "upstream": true, "map": true, "geo": true, "split_clients": true,
	"log_format": true, "lua_shared_dict": true, "limit_req_zone": true, "limit_conn_zone": true,
	"proxy_cache_path": true, "set_real_ip_from": true, "listen": true, "lua_add_variable": true,
	"proxy_hide_header": true, "grpc_hide_header": true, "fastcgi_hide_header": true, "proxy_pass_header": true,
}

// entries are the blocks whose directives are entries: the first word is a key.
var entries = map[string]bool{"map": true, "geo": true, "types": true, "charset_map": true}

// named are directives that can occur several times, each about the thing that its first argument
// names.
var named = map[string]bool{
	"set": true, "add_header": true, "add_trailer": true, "proxy_set_header": true, "grpc_set_header": true,
	"fastcgi_param": true, "uwsgi_param": true, "proxy_hide_header": true, "proxy_pass_header": true,
	"grpc_hide_header": true, "fastcgi_hide_header": true, "more_set_headers": true, "more_clear_headers": true,
	"more_set_input_headers": true, "more_clear_input_headers": true, "auth_request_set": true,
	"log_format": true, "lua_shared_dict": true, "limit_req_zone": true, "limit_conn_zone": true,
	"set_real_ip_from": true, "listen": true, "allow": true, "deny": true, "load_module": true, "include": true,
	"rewrite": true, "error_page": true, "env": true, "debug_connection": true, "lua_add_variable": true,
	"proxy_cookie_path": true, "proxy_cookie_domain": true, "proxy_redirect": true, "sub_filter": true,
	"limit_req": true, "limit_conn": true, "opentelemetry_attribute": true, "modsecurity_rules_file": true,
}

// groupOf returns the group of a directive in a block.
func groupOf(d *Directive, parent string) string {
	switch {
	case entries[parent]:
		return "entry"
	case parent == "upstream" && d.Name == "server":
		return "peer" // peers are used in turn
	case groups[d.Name] != "":
		return groups[d.Name]
	}
	return d.Name
}

// ordered reports whether the place of a directive within its group counts.
func ordered(d *Directive, group string) bool {
	switch group {
	case "entry":
		return strings.HasPrefix(d.Name, "~") // the first regular expression that matches decides
	case "location":
		return len(d.Args) > 0 && strings.HasPrefix(d.Args[0], "~") // as above
	case "server":
		return len(names(d)) > 0 && strings.HasPrefix(names(d)[0], "~") // as above
	}
	return !anyOrder[group]
}

// identity returns a text by which a directive of one configuration is recognised in the other one.
func identity(d *Directive, group string) string {
	switch {
	case group == "entry":
		return d.Name
	case group == "server":
		if all := names(d); len(all) > 0 {
			return "server " + all[0]
		}
		return "server " + strings.Join(listens(d), " ")
	case d.IsBlock && d.Lua == "":
		return d.String()
	case (named[d.Name] || group == "peer") && len(d.Args) > 0:
		return d.Name + " " + d.Args[0]
	}
	return d.Name
}

// names returns the arguments of a server's server_name.
func names(server *Directive) []string {
	for _, d := range server.Block {
		if d.Name == "server_name" {
			return d.Args
		}
	}
	return nil
}

// listens returns the addresses of a server.
func listens(server *Directive) []string {
	var all []string
	for _, d := range server.Block {
		if d.Name == "listen" && len(d.Args) > 0 {
			all = append(all, d.Args[0])
		}
	}
	return all
}

// isDefault reports whether a listen directive marks its server as the default of the address.
func isDefault(listen *Directive) bool {
	return slices.Contains(listen.Args, "default_server") || slices.Contains(listen.Args, "default")
}
