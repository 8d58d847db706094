-- One key, a few endpoints: they are put into sets of a fixed size, the key
-- decides on a set, chance on one of its members. So a popular key does not
-- bring down one endpoint, and caches are still few per key.

local chash = require("balancer.chash")
local resty_chash = require("resty.chash")
local util = require("util")

local math = math
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min
local setmetatable = setmetatable
local tonumber = tonumber

local _M = { name = "chashsubset" }

local DEFAULT_SIZE = 3

-- Returns subsets of the endpoints (tables with address and port) in their given order,
-- by name, and the names as nodes to hash over. The last subset is filled up from the
-- start: a smaller one would get more requests per endpoint.
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

-- An integer from 1 to the number of endpoints: a larger subset would contain some of
-- them twice.
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

-- The order counts: with another, endpoints share their sets with others.
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
