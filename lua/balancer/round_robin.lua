-- Round robin: chooses the endpoints in turn. Each worker has its own order.

local balancer_resty = require("balancer.resty")
local resty_roundrobin = require("resty.roundrobin")
local util = require("util")

local _M = balancer_resty:new({ name = "round_robin" })

function _M.new(self, backend)
  local nodes = util.get_nodes(backend.endpoints)
  return balancer_resty.new(self, {
    instance = resty_roundrobin:new(nodes),
    nodes = nodes,
    traffic_shaping_policy = backend.trafficShapingPolicy,
    alternative_backends = backend.alternativeBackends,
  })
end

function _M.balance(self)
  return self.instance:find()
end

return _M
