-- Consistent hashing to subsets of endpoints: endpoints form subsets of a fixed size, the key
-- determines a subset, and a random member of it gets the request. So a popular key does not
-- overload one endpoint, and few endpoints cache each key.

local chash = require("balancer.chash")
local resty_chash = require("resty.chash")
local util = require("util")

local math = math
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min
local setmetatable = setmetatable
local tonumber = tonumber

local _M = { name = "chashsubset" }

local DEFAULT_SIZE = 3

-- Returns the nodes to hash over and the subsets of the endpoints, both by name. The subsets keep
-- the order of the endpoints. The last subset is filled up from the start of the list: in a smaller
-- one, each endpoint would get more requests.
local function build_subsets(endpoints, size)
  local nodes, subsets = {}, {}
  for n = 1, ceil(#endpoints / size) do
    local members = {}
    for i = 1, size do
      members[i] = endpoints[((n - 1) * size + i - 1) % #endpoints + 1]
    end
    subsets["set" .. n], nodes["set" .. n] = members, 1
  end
  return nodes, subsets
end

local function take(self, backend)
  chash.take_hash_by(self, backend)
  self.traffic_shaping_policy = backend.trafficShapingPolicy
  self.alternative_backends = backend.alternativeBackends
end

-- Returns an integer from 1 to the number of endpoints: a larger subset would contain endpoints
-- twice.
local function subset_size(backend)
  local size = floor(tonumber(backend.upstreamHashByConfig["upstream-hash-by-subset-size"]) or 0)
  return max(1, min(size > 0 and size or DEFAULT_SIZE, #backend.endpoints))
end

function _M.new(self, backend)
  local size = subset_size(backend)
  local nodes, subsets = build_subsets(backend.endpoints, size)
  local o = setmetatable({
    instance = resty_chash:new(nodes),
    subsets = subsets,
    size = size,
    current_endpoints = util.deepcopy(backend.endpoints),
  }, self)
  self.__index = self
  take(o, backend)
  return o
end

-- A different order of endpoints also changes the subsets.
function _M.sync(self, backend)
  take(self, backend)
  local size = subset_size(backend)
  if size == self.size and util.deep_compare(self.current_endpoints, backend.endpoints) then
    return
  end

  local nodes, subsets = build_subsets(backend.endpoints, size)
  self.current_endpoints, self.size, self.subsets = util.deepcopy(backend.endpoints), size, subsets
  self.instance:reinit(nodes)
end

function _M.balance(self)
  local members = self.subsets[self.instance:find(util.generate_var_value(self.hash_by))]
  if not members then
    return nil
  end
  local endpoint = members[math.random(#members)]
  return endpoint.address .. ":" .. endpoint.port
end

function _M.is_affinitized()
  return false
end

return _M
