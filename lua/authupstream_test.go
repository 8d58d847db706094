package lua_test

import (
	"fmt"
	"testing"
)

// The host of an external authentication service is resolved at each request: nginx starts even if
// the name does not resolve, and the service may move.
func TestExternalAuthenticationByNameFollowsDNS(t *testing.T) {
	names := serveNames(t)
	pods := samePort(t, 2)
	s := start(t, setup{
		Workers:   1,
		Replace:   names.asNameserver(),
		HTTPBlock: "upstream auth { server 0.0.0.1; balancer_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_auth_balancer.lua; keepalive 2; }",
		Server: fmt.Sprintf(`
location = /auth { internal; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://auth/; }
location = /guarded {
set $auth_host auth.example.com; set $auth_port %s;
set $auth_path /auth; set $auth_cookie ""; set $auth_keepalive_share_vars false;
set $auth_response_headers "X-Pod"; set $authHeader0 "";
access_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_external_auth.lua;
content_by_lua_block { ngx.print(ngx.var.authHeader0) }
}`, pods[0].Port)})
	s.expectLog("failed to query the DNS server for")
	s.expectLog("no peer for external authentication")
	s.expectLog("auth request unexpected status")
	w := s.workers("none")[0]

	if got := w.getPath("/guarded"); got.status != 500 {
		t.Errorf("without an address: %d", got.status)
	}
	for _, pod := range pods {
		names.set("auth.example.com", pod.Address)
		s.nginx.Await("a response of "+pod.Address, func() bool {
			got := w.getPath("/guarded")
			return got.status == 200 && got.body == pod.Address+":"+pod.Port
		})
	}
}

// The service may send a header several times. Cookies cannot be joined, so only the first one
// counts.
func TestExternalAuthenticationPassesRepeatedHeaders(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: `
location = /auth {
internal;
content_by_lua_block { ngx.header["Set-Cookie"] = { "a=1", "b=2" }; ngx.header["X-Group"] = { "dev", "ops" } }
}
location = /guarded {
set $auth_path /auth; set $auth_cookie ""; set $auth_keepalive_share_vars false;
set $auth_response_headers "X-Group"; set $authHeader0 "";
access_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_external_auth.lua;
content_by_lua_block { ngx.print(ngx.var.authHeader0, " ", ngx.var.auth_cookie) }
}`})
	if got := s.workers("none")[0].getPath("/guarded"); got.body != "dev, ops a=1" {
		t.Errorf("%d %q, want the groups for the pod, and a cookie", got.status, got.body)
	}
}

// Header names are case-insensitive: many services send them in lower case.
func TestExternalAuthenticationFindsHeadersInAnyCase(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: `
location = /auth {
internal;
content_by_lua_block { ngx.header["set-cookie"] = "a=1" ngx.header["x-user"] = "ann" }
}
location = /guarded {
set $auth_path /auth; set $auth_cookie ""; set $auth_keepalive_share_vars false;
set $auth_response_headers "X-User"; set $authHeader0 "";
access_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_external_auth.lua;
content_by_lua_block { ngx.print(ngx.var.authHeader0, " ", ngx.var.auth_cookie) }
}`})
	if got := s.workers("none")[0].getPath("/guarded"); got.body != "ann a=1" {
		t.Errorf("%d %q, want the user for the pod, and a cookie", got.status, got.body)
	}
}
