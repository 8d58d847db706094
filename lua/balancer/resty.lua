-- The base of algorithms that leave the choice to a lua-resty-balancer object
-- (field instance) which takes a set of nodes.

local util = require("util")

local setmetatable = setmetatable

local _M = {}

function _M.new(self, o)
  o = o or {}
  self.__index = self
  return setmetatable(o, self)
end

-- Whether two lists name the same endpoints in the same order: nearly always
-- so, and found out without making a string for each. A list that may have been
-- changed in place (it is the same one) proves nothing.
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

-- Takes over what the backend says now. The nodes are set again only when they
-- changed: doing so starts the choice anew. An object without alternatives and
-- policy must lose the ones it had, so both are taken over as they are.
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

-- Whether the client of this request is bound to this backend.
function _M.is_affinitized()
  return false
end

return _M
