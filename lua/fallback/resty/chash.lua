-- Consistent hashing with the interface of lua-resty-balancer's resty.chash, for nginx packages
-- without that library (and its C part).
--
-- Each node has 160 points per unit of weight on a ring of 32-bit numbers. A key belongs to the
-- first point at or after its CRC-32. The points are the same as those of nginx's "hash ...
-- consistent", so a key maps to the same node: each is the CRC-32 of host, zero byte, port and the
-- previous point.

local bit = require("bit")
local ffi = require("ffi")

local band, bxor, rshift, tobit = bit.band, bit.bxor, bit.rshift, bit.tobit
local byte = string.byte
local crc32 = ngx.crc32_long
local pairs = pairs
local setmetatable = setmetatable
local sort = table.sort
local new_array = ffi.typeof("uint32_t[?]")

local POINTS = 160

local _M = {}
local mt = { __index = _M }

-- ngx.crc32_long cannot continue a checksum, so CRC-32 is implemented here.
local table_of_crc = ffi.new("int32_t[256]")
for i = 0, 255 do
  local crc = i
  for _ = 1, 8 do
    crc = band(crc, 1) == 1 and bxor(rshift(crc, 1), 0xedb88320) or rshift(crc, 1)
  end
  table_of_crc[i] = tobit(crc)
end

local function add_byte(crc, b)
  return bxor(table_of_crc[band(bxor(crc, b), 0xff)], rshift(crc, 8))
end

local function add_string(crc, text)
  for i = 1, #text do
    crc = add_byte(crc, byte(text, i))
  end
  return crc
end

-- Returns the checksum of the prefix that all points of a node share.
local function node_sum(id)
  local host, port = id:match("^(.*):([^:]*)$")
  return add_string(add_byte(add_string(-1, host or id), 0), port or "")
end

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

-- Sorts points, and their owners in the same order. It is a radix sort, in four passes of one byte
-- each: a comparison sort of a million points would block the worker for a second.
local function sort_points(points, owners, count)
  local other_points, other_owners = new_array(count), new_array(count)
  local starts = new_array(257)
  for shift = 0, 24, 8 do
    ffi.fill(starts, ffi.sizeof(starts))
    for i = 0, count - 1 do
      local digit = band(rshift(points[i], shift), 0xff)
      starts[digit + 1] = starts[digit + 1] + 1
    end
    for digit = 1, 256 do
      starts[digit] = starts[digit] + starts[digit - 1]
    end
    for i = 0, count - 1 do
      local digit = band(rshift(points[i], shift), 0xff)
      local to = starts[digit]
      starts[digit] = to + 1
      other_points[to], other_owners[to] = points[i], owners[i]
    end
    points, other_points = other_points, points
    owners, other_owners = other_owners, owners
  end
  return points, owners -- after an even number of passes, these are the original arrays
end

local function rebuild(self)
  local ids, total, step = {}, 0, 0
  for id, weight in pairs(self.nodes) do
    if weight > 0 then
      ids[#ids + 1] = id
      total = total + weight
      step = gcd(weight, step)
    end
  end
  sort(ids) -- if two points collide, the owner must not depend on the order of the table

  local count = step > 0 and POINTS * total / step or 0
  local points, owners, at = new_array(count), new_array(count), 0
  for index = 1, #ids do
    local base, point = node_sum(ids[index]), 0
    for _ = 1, POINTS * self.nodes[ids[index]] / step do
      local crc = add_byte(base, band(point, 0xff))
      crc = add_byte(crc, band(rshift(point, 8), 0xff))
      crc = add_byte(crc, band(rshift(point, 16), 0xff))
      crc = add_byte(crc, band(rshift(point, 24), 0xff))
      point = bxor(crc, -1)
      points[at], owners[at] = point % 4294967296, index
      at = at + 1
    end
  end

  self.ids, self.size = ids, count
  self.points, self.owners = sort_points(points, owners, count)
end

local function copy(nodes)
  local out = {}
  for id, weight in pairs(nodes) do
    out[id] = weight
  end
  return out
end

-- nodes: a table from id to weight.
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

function _M.decr(self, id, weight)
  local left = (self.nodes[id] or 0) - (weight or 1)
  if left > 0 then
    self:set(id, left)
  else
    self:delete(id)
  end
end

-- Returns the id that a key belongs to, and the index of its point to pass to next.
function _M.find(self, key)
  local size = self.size
  if size == 0 then
    return nil
  end

  local hash, points = crc32(key), self.points
  local low, high = 0, size -- the index of the point is in low..high
  while low < high do
    local middle = rshift(low + high, 1)
    if points[middle] < hash then
      low = middle + 1
    else
      high = middle
    end
  end
  if low == size then
    low = 0
  end
  return self.ids[self.owners[low]], low + 1
end

-- Returns the id of the point after an index, which may be the same id, and that point's index.
function _M.next(self, index)
  if self.size == 0 then
    return nil
  end
  index = index % self.size + 1
  return self.ids[self.owners[index - 1]], index
end

return _M
