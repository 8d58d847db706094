-- Small pure functions that several modules use.

local pairs = pairs
local ipairs = ipairs
local type = type
local tonumber = tonumber
local tostring = tostring
local concat = table.concat
local ngx = ngx

local _M = {}

-- Returns endpoints as nodes for balancing libraries: a table from "address:port" to weight 1.
function _M.get_nodes(endpoints)
  local nodes = {}
  for _, endpoint in ipairs(endpoints) do
    nodes[endpoint.address .. ":" .. endpoint.port] = 1
  end
  return nodes
end

-- Adds brackets to IPv6 addresses, in place: nginx expects a peer as "address:port".
function _M.bracket_ipv6(endpoints)
  for _, endpoint in ipairs(endpoints) do
    local address = endpoint.address
    if address:find(":", 1, true) and address:sub(1, 1) ~= "[" then
      endpoint.address = "[" .. address .. "]"
    end
  end
end

-- Reports whether two values are equal; tables are compared by content.
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

local function deepcopy(value)
  if type(value) ~= "table" then
    return value
  end
  local copy = {}
  for key, field in pairs(value) do
    copy[deepcopy(key)] = deepcopy(field)
  end
  return copy
end
_M.deepcopy = deepcopy

-- Returns the endpoints as a set of "address:port". Endpoints without an address are
-- skipped; a missing port is written as nil.
local function names_of(endpoints)
  local names = {}
  for _, endpoint in ipairs(endpoints or {}) do
    if endpoint.address then
      names[endpoint.address .. ":" .. tostring(endpoint.port)] = true
    end
  end
  return names
end

-- Returns the added and the removed endpoints between two lists, as "address:port".
function _M.diff_endpoints(old, new)
  local had, has = names_of(old), names_of(new)
  local added, removed = {}, {}
  for node in pairs(has) do
    if not had[node] then
      added[#added + 1] = node
    end
  end
  for node in pairs(had) do
    if not has[node] then
      removed[#removed + 1] = node
    end
  end
  return added, removed
end

-- Parses a value in the syntax of nginx.conf: text with $name, ${name} and $1. Each token has
-- either text or var (and capture, for a number).
function _M.parse_complex_value(value)
  local tokens, at = {}, 1
  local function add(token)
    tokens[#tokens + 1] = token
  end

  while at <= #value do
    local from = value:find("$", at, true)
    if not from then
      add({ text = value:sub(at) })
      break
    end
    if from > at then
      add({ text = value:sub(at, from - 1) })
    end

    local _, to, name = value:find("^{([%w_]+)}", from + 1)
    if not name then
      _, to, name = value:find("^(%d+)", from + 1)
    end
    if not name then
      _, to, name = value:find("^([%a_][%w_]*)", from + 1)
    end
    if name then
      add({ var = name, capture = tonumber(name) })
      at = to + 1
    elseif value:sub(from + 1, from + 1) == "{" then
      return nil, "no variable name closed by } after ${ in " .. value
    else
      add({ text = "$" })
      at = from + 1
    end
  end
  return tokens
end

local function token_value(token)
  if token.text then
    return token.text
  end
  local value
  if token.capture then
    value = ngx.var[token.capture]
  end
  return value or ngx.var[token.var]
end

-- A shared buffer; nothing yields while it is in use.
local parts = {}

-- Returns the value of parsed tokens in this request; variables that are not set are empty.
function _M.generate_var_value(tokens)
  if #tokens == 1 then -- the most common case, which needs no joining
    return tostring(token_value(tokens[1]) or "")
  end

  local count = 0
  for i = 1, #tokens do
    local value = token_value(tokens[i])
    if value then
      count = count + 1
      parts[count] = tostring(value)
    end
  end
  return concat(parts, "", 1, count)
end

function _M.is_blank(text)
  return text == nil or #text == 0
end

-- Parses a boolean of an annotation; any value that is not clearly true is false.
function _M.string_to_bool(text)
  return text == "true" or text == "1" or text == "t" or text == "T"
    or text == "TRUE" or text == "True"
end

function _M.tablelength(t)
  local count = 0
  for _ in pairs(t) do
    count = count + 1
  end
  return count
end

-- Replaces every a by b; both are literal strings, not patterns.
function _M.replace_special_char(text, a, b)
  return (text:gsub(a:gsub("%p", "%%%0"), (b:gsub("%%", "%%%%"))))
end

return _M
