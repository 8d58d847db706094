-- Consistent hashing: the value of upstream-hash-by determines the endpoint, with the same result
-- in all workers. When endpoints change, only keys of removed and added endpoints move.

local balancer_resty = require("balancer.resty")
local resty_chash = require("resty.chash")
local util = require("util")

local ngx = ngx

local _M = balancer_resty:new({ name = "chash" })

-- Parses upstream-hash-by once, not at each request. chashsubset also uses it.
function _M.take_hash_by(self, backend)
  local hash_by = backend.upstreamHashByConfig["upstream-hash-by"]
  if hash_by == self.hash_by_text then
    return
  end
  local tokens, err = util.parse_complex_value(hash_by)
  if not tokens then
    ngx.log(ngx.ERR, "could not parse the value of the upstream-hash-by: ", err)
    tokens = {}
  end
  self.hash_by, self.hash_by_text = tokens, hash_by
end

function _M.new(self, backend)
  local nodes = util.get_nodes(backend.endpoints)
  local o = balancer_resty.new(self, {
    instance = resty_chash:new(nodes),
    nodes = nodes,
    traffic_shaping_policy = backend.trafficShapingPolicy,
    alternative_backends = backend.alternativeBackends,
  })
  o:take_hash_by(backend)
  return o
end

function _M.sync(self, backend)
  self:take_hash_by(backend)
  balancer_resty.sync(self, backend)
end

-- A retry uses the same endpoint: another one would not have the data of the key.
function _M.balance(self)
  return (self.instance:find(util.generate_var_value(self.hash_by)))
end

return _M
