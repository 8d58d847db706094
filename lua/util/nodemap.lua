-- Maps keys to nodes. A key is the MD5 of a salt and the node, so it reveals nothing to clients. It
-- stays valid while its node exists, regardless of changes to other nodes.

local math = math
local pairs = pairs
local setmetatable = setmetatable
local ngx = ngx

local _M = {}
local mt = { __index = _M }

-- The arrays are for random choices, the map for lookups.
local function rebuild(self, nodes)
  local map, keys, endpoints, count = {}, {}, {}, 0
  for endpoint in pairs(nodes) do
    count = count + 1
    local key = ngx.md5(self.salt .. endpoint)
    map[key], keys[count], endpoints[count] = endpoint, key, endpoint
  end
  self.map, self.keys, self.endpoints, self.count = map, keys, endpoints, count
end

-- nodes: a table whose keys are "address:port".
function _M.new(_, nodes, salt)
  local self = setmetatable({ salt = salt or "" }, mt)
  rebuild(self, nodes)
  return self
end

function _M.reinit(self, nodes)
  rebuild(self, nodes)
end

function _M.find(self, key)
  return self.map[key]
end

function _M.random(self)
  if self.count == 0 then
    return nil, nil
  end
  local i = math.random(self.count)
  return self.endpoints[i], self.keys[i]
end

-- Returns a random node that is not in the set, and its key; nil if there is none.
function _M.random_except(self, set)
  local endpoints, left = self.endpoints, 0
  for i = 1, self.count do
    if not set[endpoints[i]] then
      left = left + 1
    end
  end
  if left == 0 then
    return nil, nil
  end

  local nth = math.random(left)
  for i = 1, self.count do
    if not set[endpoints[i]] then
      nth = nth - 1
      if nth == 0 then
        return endpoints[i], self.keys[i]
      end
    end
  end
end

return _M
