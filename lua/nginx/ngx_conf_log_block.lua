-- log_by_lua of a location: the algorithm may learn from the answer, and
-- metrics count it.
balancer.log()

if ngx.shared.luaconfig:get("enablemetrics") then
  monitor.call()
end
