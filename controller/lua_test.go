package controller_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"testing"
	"testing/fstest"

	"windtunnel.dev/controller"
	"windtunnel.dev/lua"
)

// theirLua is Lua code that implements the entry scripts and the wire format, but none of our own
// extensions.
var theirLua = func() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"ngx_conf_init.lua": `
cjson = require("cjson.safe")
local file = io.open("/etc/nginx/lua/cfg.json", "r") -- below the root
config = cjson.decode(file:read("*a"))
file:close()
for _, name in ipairs({"cookie", "http", "ipmatcher", "lock", "lrucache", "dns.resolver", "string"}) do
  require("resty." .. name)
end
require("resty.roundrobin").theirs = "yes"`,
		"fallback/resty/roundrobin.lua":       `return {}`,
		"ngx_conf_init_worker.lua":            ``,
		"ngx_conf_init_stream.lua":            ``,
		"nginx/ngx_conf_init_tcp_udp.lua":     ``,
		"nginx/ngx_conf_certificate.lua":      ``,
		"nginx/ngx_rewrite.lua":               ``,
		"nginx/ngx_conf_log.lua":              ``,
		"nginx/ngx_conf_log_block.lua":        ``,
		"nginx/ngx_conf_srv_hdr_filter.lua":   `ngx.header["X-Lua"] = "theirs " .. config.listen_ports.status_port .. require("resty.roundrobin").theirs`,
		"nginx/ngx_conf_rewrite_auth.lua":     ``,
		"nginx/ngx_conf_content_tcp_udp.lua":  ``,
		"nginx/ngx_conf_balancer_tcp_udp.lua": ``,
		"nginx/ngx_conf_is_dynamic_lb_initialized.lua": `
if not ngx.shared.configuration_data:get("backends") then ngx.exit(500) end
ngx.say("OK")`,
		"nginx/ngx_conf_configuration.lua": `
ngx.req.read_body()
if ngx.var.uri == "/configuration/backends" then
  ngx.shared.configuration_data:set("backends", ngx.req.get_body_data())
elseif ngx.var.uri ~= "/configuration/servers" then
  return ngx.exit(404)
end
ngx.status = 201`,
		"nginx/ngx_conf_balancer.lua": `
for _, backend in ipairs(cjson.decode(ngx.shared.configuration_data:get("backends"))) do
  if backend.name == ngx.var.proxy_upstream_name then
    local first = backend.endpoints[1]
    require("ngx.balancer").set_current_peer(first.address .. ":" .. first.port)
  end
end`,
	} {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return files
}()

// The controller works with Lua code that lacks our own extensions, reads cfg.json at ingress-nginx's
// path, and requires libraries that nginx's package lacks.
func TestUserLua(t *testing.T) {
	t.Parallel()
	one := pod(t, "127.0.43.1", "one")
	r := launchAs(t, true, func(c *controller.Config) {
		c.Lua = theirLua
		var err error
		c.LuaFallback, err = fs.Sub(lua.FS, "fallback")
		if err != nil {
			t.Fatal(err)
		}
		c.Options.BackendsPush, c.Options.BackendsDelta, c.Options.ReportWorkers = true, true, true
	}, func(r *running) { r.others(20); r.service(one) })
	r.log.next("ready")
	r.awaitAnswer("one")
	r.move(pod(t, "127.0.43.2", "two"))
	r.awaitAnswer("two")
	if sync := r.awaitSync(posted); sync.Posts[0].Path != "/configuration/backends" {
		t.Errorf("posts %+v", sync.Posts)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", r.ports.HTTP), nil)
	r.must(err)
	request.Host = "web.example"
	response, err := http.DefaultClient.Do(request)
	r.must(err)
	response.Body.Close()
	if got := response.Header.Get("X-Lua"); got != fmt.Sprintf("theirs %dyes", r.ports.Status) {
		t.Errorf("X-Lua is %q: their header filter did not run", got)
	}
}
