-- log_by_lua of a location: for algorithms that use response times, and for metrics.
balancer.log()

if ngx.shared.luaconfig:get("enablemetrics") then
  monitor.call()
end
