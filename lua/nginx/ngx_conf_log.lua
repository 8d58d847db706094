-- log_by_lua of what is no location of an ingress, in either subsystem.
if ngx.config.subsystem == "stream" then
  return tcp_udp_balancer.log()
end

balancer.log()
if ngx.shared.luaconfig:get("enablemetrics") then
  monitor.call()
end
