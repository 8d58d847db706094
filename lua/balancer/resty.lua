-- The base of algorithms that use an object of lua-resty-balancer, in the field instance, to choose
-- from a set of nodes.

local util = require("util")

local setmetatable = setmetatable

local _M = {}

function _M.new(self, o)
  o = o or {}
  self.__index = self
  return setmetatable(o, self)
end

-- Reports whether two lists name the same endpoints in the same order. This is the common case, and
-- the check allocates no strings. It returns false if the lists share an endpoint object, because
-- that object may have been changed in place.
local function same_list(old, new)
  if not old or #old ~= #new then
    return false
  end
  for i = 1, #new do
    local a, b = old[i], new[i]
    if a == b or a.address ~= b.address or a.port ~= b.port then
      return false
    end
  end
  return true
end

-- Applies a new version of the backend. The nodes are set only if they changed, because this
-- restarts the algorithm. Policy and alternatives are always copied, so that removed ones
-- disappear.
function _M.sync(self, backend)
  self.traffic_shaping_policy = backend.trafficShapingPolicy
  self.alternative_backends = backend.alternativeBackends

  local endpoints = backend.endpoints
  if same_list(self.endpoints, endpoints) then
    return
  end
  self.endpoints = endpoints

  local nodes = util.get_nodes(endpoints)
  if util.deep_compare(self.nodes, nodes) then
    return
  end
  self.nodes = nodes
  self.instance:reinit(nodes)
end

-- Reports whether the client of this request is bound to this backend.
function _M.is_affinitized()
  return false
end

return _M
