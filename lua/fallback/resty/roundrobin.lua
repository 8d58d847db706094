-- Weighted round robin with the interface of lua-resty-balancer's
-- resty.roundrobin, for an nginx that comes without that library.
--
-- A turn goes round the nodes and takes those whose weight reaches the level;
-- after each round the level sinks by the weights' greatest common divisor, and
-- below that it starts again from the largest weight. So over one cycle each
-- node comes as often as its weight says, the heavy ones spread out.

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

-- Makes the arrays that find walks from the table of nodes. The start is
-- random, lest all workers begin at the same node.
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

-- nodes: id to weight; a weight is a whole number, and one of 0 is never chosen.
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

-- A node whose weight sinks to 0 is deleted.
function _M.decr(self, id, weight)
  local left = (self.nodes[id] or 0) - (weight or 1)
  if left > 0 then
    self:set(id, left)
  else
    self:delete(id)
  end
end

-- The id whose turn it is; nil if there is no node.
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
