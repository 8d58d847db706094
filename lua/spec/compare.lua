-- Compares two values, which may contain matchers, and formats values for messages.

local _M = {}

-- The metatable of matchers such as match.is_table().
_M.matcher = {}

function _M.same(a, b, seen)
  if getmetatable(b) == _M.matcher then
    return b.accepts(a)
  end
  if getmetatable(a) == _M.matcher then
    return a.accepts(b)
  end
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b or (a ~= a and b ~= b)
  end
  if rawequal(a, b) then
    return true
  end
  seen = seen or {}
  if seen[a] == b then
    return true -- a cycle, without differences so far
  end
  seen[a] = b
  for key, value in next, a do
    if not _M.same(value, b[key], seen) then
      return false
    end
  end
  for key in next, b do
    if a[key] == nil then
      return false
    end
  end
  return true
end

function _M.copy(value, seen)
  if type(value) ~= "table" or getmetatable(value) == _M.matcher then
    return value
  end
  seen = seen or {}
  if seen[value] then
    return seen[value]
  end
  local out = {}
  seen[value] = out
  for key, field in next, value do
    out[_M.copy(key, seen)] = _M.copy(field, seen)
  end
  return setmetatable(out, getmetatable(value))
end

function _M.show(value, depth)
  if type(value) == "string" then
    return ("%q"):format(value)
  end
  if type(value) ~= "table" then
    return tostring(value)
  end
  depth = depth or 0
  if depth > 4 then
    return "{...}"
  end
  local parts = {}
  for key, field in next, value do
    parts[#parts + 1] = tostring(key) .. " = " .. _M.show(field, depth + 1)
  end
  table.sort(parts)
  return "{ " .. table.concat(parts, ", ") .. " }"
end

return _M
