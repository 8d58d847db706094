-- Binds a client to an endpoint for as long as there is that endpoint: others
-- may come and go without moving a session.

local sticky = require("balancer.sticky")
local nodemap = require("util.nodemap")
local util = require("util")

local _M = sticky:new({ name = "sticky_persistent" })

-- The backend's name salts the keys, so that a key of one backend says nothing
-- about another that has the same endpoint.
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
