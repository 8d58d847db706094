-- Session affinity that keeps sessions: a client stays bound to an endpoint while the endpoint
-- exists. Changes of other endpoints move no session.

local sticky = require("balancer.sticky")
local nodemap = require("util.nodemap")
local util = require("util")

local _M = sticky:new({ name = "sticky_persistent" })

-- The keys are salted with the backend's name, so a key of one backend reveals nothing about
-- another backend with the same endpoint.
function _M.new(self, backend)
  local o = sticky.fields(backend)
  o.nodes = util.get_nodes(backend.endpoints)
  o.instance = nodemap:new(o.nodes, backend.name)
  return sticky.new(self, o)
end

function _M.pick_new_upstream(self, failed)
  return self.instance:random_except(failed)
end

return _M
