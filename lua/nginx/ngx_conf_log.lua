-- log_by_lua outside the locations of ingresses, in both subsystems.
if ngx.config.subsystem == "stream" then
  return tcp_udp_balancer.log()
end

balancer.log()
if ngx.shared.luaconfig:get("enablemetrics") then
  monitor.call()
end
