-- cd lua; luacheck .
std = "ngx_lua"
exclude_files = { "spec/**/*_spec.lua", "spec/*_spec.lua" }
files["spec/helper.lua"] = { globals = { "_G.ngx" } }
files["spec/bench.lua"] = { globals = { "ngx.timer" } }
files["spec/runner.lua"] = { std = "+busted" }
max_line_length = 100
-- ngx_conf_init.lua sets these for the other entry scripts.
globals = {
  "lua_ingress", "configuration", "balancer", "certificate", "monitor", "worker_report",
  "tcp_udp_configuration", "tcp_udp_balancer",
}
files["lua_ingress.lua"] = { globals = { "math.randomseed" } }
