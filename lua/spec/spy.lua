-- Functions that record their calls, with luassert's interface: spy.on, spy.new, stub, mock, match.

local compare = require("spec.compare")

local _M = { spy = {}, stub = {}, match = {} }

local mt = {}
mt.__index = mt

local function pack(...)
  return { n = select("#", ...), ... }
end

function mt.__call(self, ...)
  local args = pack(...)
  self.calls[#self.calls + 1] = { refs = args, vals = compare.copy(args) }
  local callback = self.callback
  for _, special in ipairs(self.special) do
    if args.n == special.args.n and compare.same(args, special.args) then
      callback = special.callback
    end
  end
  local results = pack(callback(...))
  self.returned[#self.returned + 1] = results
  return unpack(results, 1, results.n)
end

function mt.clear(self)
  self.calls, self.returned = {}, {}
  return self
end

function mt.revert(self)
  if self.target and not self.reverted then
    self.target[self.key] = self.original
    self.reverted = true
  end
  return self.original
end

function mt.called(self, times)
  if times then
    return #self.calls == times
  end
  return #self.calls > 0
end

function mt.called_with(self, ...)
  local wanted = pack(...)
  for _, call in ipairs(self.calls) do
    for _, args in ipairs({ call.refs, call.vals }) do
      if args.n == wanted.n and compare.same(args, wanted) then
        return true
      end
    end
  end
  return false
end

local live = {} -- spies that replaced a function, to be reverted after the spec

-- Methods that set the results of a stub: s.returns(1), s.invokes(f), s.on_call_with(2).returns(3).
local function answers(holder)
  holder.returns = function(...)
    local results = pack(...)
    holder.callback = function() return unpack(results, 1, results.n) end
    return holder
  end
  holder.invokes = function(callback)
    holder.callback = callback
    return holder
  end
  return holder
end

local function new(callback)
  local self = answers({ calls = {}, returned = {}, special = {},
    callback = callback or function() end })
  self.by_default = self
  self.on_call_with = function(...)
    local special = answers({ args = pack(...), callback = function() end })
    table.insert(self.special, special)
    return special
  end
  return setmetatable(self, mt)
end

function _M.is_spy(value)
  return getmetatable(value) == mt
end

local function replace(target, key, callback)
  local self = new(callback)
  self.target, self.key, self.original = target, key, target[key]
  target[key] = self
  live[#live + 1] = self
  return self
end

function _M.revert_all()
  for i = #live, 1, -1 do
    live[i]:revert()
  end
  live = {}
end

function _M.spy.new(callback)
  return new(callback)
end

function _M.spy.on(target, key)
  local original = target[key]
  return replace(target, key, function(...) return original(...) end)
end

_M.spy.is_spy = _M.is_spy

function _M.stub.new(target, key, ...)
  local first = ...
  if type(first) == "function" then
    return replace(target, key, first)
  end
  local results = pack(...)
  return replace(target, key, function() return unpack(results, 1, results.n) end)
end

function _M.mock(target, stubbed)
  for key, value in pairs(target) do
    if type(value) == "function" then
      replace(target, key, stubbed and function() end or value)
    elseif type(value) == "table" and not _M.is_spy(value) then
      _M.mock(value, stubbed)
    end
  end
  return target
end

for _, name in ipairs({ "spy", "stub" }) do
  setmetatable(_M[name], { __call = function(class, ...) return class.new(...) end })
end

local function matcher(accepts)
  return setmetatable({ accepts = accepts }, compare.matcher)
end

_M.match._ = matcher(function() return true end)
for _, kind in ipairs({ "table", "string", "number", "boolean", "function", "nil" }) do
  local function make()
    return matcher(function(value) return type(value) == kind end)
  end
  _M.match["is_" .. kind], _M.match["a_" .. kind] = make, make
end
function _M.match.is_same(wanted)
  return matcher(function(value) return compare.same(value, wanted) end)
end
function _M.match.matches(pattern)
  return matcher(function(value) return type(value) == "string" and value:find(pattern) ~= nil end)
end
_M.match.has_match, _M.match.same = _M.match.matches, _M.match.is_same
function _M.match.is_ref(wanted)
  return matcher(function(value) return rawequal(value, wanted) end)
end

return _M
