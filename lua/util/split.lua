-- Splits lists in variables of nginx and in HTTP headers.

local find = string.find
local gmatch = string.gmatch

local _M = {}

-- Splits the values of several attempts. nginx writes them as "a, b : c", with a colon at an
-- internal redirect. Other programs separate values with a pipe.
function _M.split_upstream_var(text)
  if not text then
    return nil, nil
  end
  local values, count = {}, 0
  for value in gmatch(text, "[^%s,|]+") do
    if value ~= ":" then
      count = count + 1
      values[count] = value
    end
  end
  return values
end

-- Splits $upstream_addr into { host, port } pairs. An IPv6 host keeps its brackets; the path of a
-- socket has no port.
function _M.split_upstream_addr(text)
  local addresses = _M.split_upstream_var(text)
  if not addresses then
    return nil, nil
  end
  local pairs_of = {}
  for i = 1, #addresses do
    local host, port = addresses[i]:match("^(.*):(%d+)$")
    pairs_of[i] = { host or addresses[i], port }
  end
  return pairs_of
end

function _M.get_first_value(text)
  local values = _M.split_upstream_var(text)
  return values and values[1]
end

function _M.get_last_value(text)
  -- The usual case is one attempt, which needs no table.
  if text and text ~= "" and text ~= ":" and not find(text, "[%s,|]") then
    return text
  end
  local values = _M.split_upstream_var(text)
  return values and values[#values]
end

-- Splits a text at each of the delimiter's characters. Returns the non-empty parts and their
-- number; nothing without a text or a delimiter.
function _M.split_string(text, delimiter)
  local parts, count = {}, 0
  if text and delimiter and delimiter ~= "" then
    for part in gmatch(text, "[^" .. delimiter:gsub("%W", "%%%0") .. "]+") do
      count = count + 1
      parts[count] = part
    end
  end
  return parts, count
end

return _M
