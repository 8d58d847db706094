-- Small pure functions that several modules need.

local pairs = pairs
local ipairs = ipairs
local type = type

local _M = {}

-- Endpoints as the set of nodes that balancing libraries take: "address:port" to weight 1.
function _M.get_nodes(endpoints)
  local nodes = {}
  for _, endpoint in ipairs(endpoints) do
    nodes[endpoint.address .. ":" .. endpoint.port] = 1
  end
  return nodes
end

-- Whether two values are equal, tables by what they hold.
local function deep_compare(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for key, value in pairs(a) do
    if not deep_compare(value, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end
_M.deep_compare = deep_compare

return _M
