-- Weighted round robin with the interface of lua-resty-balancer's resty.roundrobin, for nginx
-- packages without that library.
--
-- A round goes over the nodes and selects those whose weight is at least the level. After each
-- round, the level decreases by the greatest common divisor of the weights; when it reaches 0, it
-- starts again from the largest weight. So in one cycle each node is selected in proportion to its
-- weight, and selections of heavy nodes are spread out.

local pairs = pairs
local random = math.random
local setmetatable = setmetatable

local _M = {}
local mt = { __index = _M }

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

-- Builds the arrays for find from the table of nodes. The start is random, so workers begin at
-- different nodes.
local function rebuild(self)
  local ids, weights, count, step, top = {}, {}, 0, 0, 0
  for id, weight in pairs(self.nodes) do
    if weight > 0 then
      count = count + 1
      ids[count], weights[count] = id, weight
      step = gcd(weight, step)
      top = weight > top and weight or top
    end
  end

  self.ids, self.weights, self.count, self.step, self.top = ids, weights, count, step, top
  self.level = top
  self.position = count > 0 and random(count) or 0
end

local function copy(nodes)
  local out = {}
  for id, weight in pairs(nodes) do
    out[id] = weight
  end
  return out
end

-- nodes: a table from id to weight. A weight is an integer; a node of weight 0 is never chosen.
function _M.new(_, nodes)
  local self = setmetatable({ nodes = copy(nodes) }, mt)
  rebuild(self)
  return self
end

function _M.reinit(self, nodes)
  self.nodes = copy(nodes)
  rebuild(self)
end

function _M.set(self, id, weight)
  self.nodes[id] = weight or 1
  rebuild(self)
end

function _M.delete(self, id)
  self.nodes[id] = nil
  rebuild(self)
end

function _M.incr(self, id, weight)
  self:set(id, (self.nodes[id] or 0) + (weight or 1))
end

-- Decreases a weight. A node whose weight becomes 0 is deleted.
function _M.decr(self, id, weight)
  local left = (self.nodes[id] or 0) - (weight or 1)
  if left > 0 then
    self:set(id, left)
  else
    self:delete(id)
  end
end

-- Returns the id of the next node; nil if there are no nodes.
function _M.find(self)
  local count = self.count
  if count == 0 then
    return nil
  end

  local weights, position, level = self.weights, self.position, self.level
  repeat
    position = position + 1
    if position > count then
      position = 1
      level = level - self.step
      if level <= 0 then
        level = self.top
      end
    end
  until weights[position] >= level

  self.position, self.level = position, level
  return self.ids[position]
end

_M.next = _M.find

return _M
