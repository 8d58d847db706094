-- Cookies of a request and its response, with the interface of lua-resty-cookie's resty.cookie, for
-- nginx packages without that library.

local find = string.find
local sub = string.sub
local gmatch = string.gmatch
local type = type
local ipairs = ipairs
local setmetatable = setmetatable
local ngx = ngx

local _M = {}

-- Shared by all requests, because it has no state.
local jar = setmetatable({}, { __index = _M })

function _M.new()
  return jar
end

-- The client controls the header, so parsing must take linear time: no pattern may
-- scan the same part twice.
local function value_of(text)
  text = text:match("^.*%S") or "" -- not "^(.-)%s*$", which is quadratic
  return text:match('^"(.*)"$') or text
end

function _M.get_all()
  local header = ngx.var.http_cookie
  if not header then
    return nil, "no cookie found in the current request"
  end
  local all = {}
  for pair in gmatch(header, "[^;]+") do
    local equals = find(pair, "=", 1, true)
    local before = equals and sub(pair, 1, equals - 1):match("^.*%S")
    local name = before and (before:match("^.*%s(.*)$") or before) -- the last word
    if name and all[name] == nil then
      all[name] = value_of(pair:match("^%s*(.*)$", equals + 1))
    end
  end
  return all
end

-- Returns the first cookie with a name: browsers send the one with the longest path first.
function _M.get(_, name)
  local header = ngx.var.http_cookie
  if not header then
    return nil, "no cookie found in the current request"
  end
  if name == "" then
    return nil -- an empty name matches everywhere, so the loop would not end
  end

  local at = 1
  while true do
    local from, to = find(header, name, at, true)
    if not from then
      return nil
    end
    -- Match whole names only: after the start, a semicolon or a space, and before the equals sign.
    if from == 1 or find(sub(header, from - 1, from - 1), "[;%s]") then
      local _, equals = find(header, "^%s*=%s*", to + 1)
      if equals then
        return value_of(header:match("^[^;]*", equals + 1))
      end
    end
    at = to + 1
  end
end

-- Attributes in the order of output. Flags have no value.
local ATTRIBUTES = {
  { field = "expires", name = "Expires" },
  { field = "max_age", name = "Max-Age" },
  { field = "domain", name = "Domain" },
  { field = "path", name = "Path" },
  { field = "secure", name = "Secure", flag = true },
  { field = "httponly", name = "HttpOnly", flag = true },
  { field = "samesite", name = "SameSite" },
}

function _M.get_cookie_string(cookie)
  local text = cookie.key .. "=" .. cookie.value
  for _, attribute in ipairs(ATTRIBUTES) do
    local value = cookie[attribute.field]
    if value then
      text = text .. "; " .. attribute.name
      if not attribute.flag then
        text = text .. "=" .. value
      end
    end
  end
  if cookie.extension then
    text = text .. "; " .. cookie.extension
  end
  return text
end

-- Adds a Set-Cookie header to the response. It replaces an earlier one of the same name, because it
-- is undefined which of them a client uses.
function _M.set(_, cookie)
  if not cookie.key or not cookie.value then
    return nil, 'missing cookie field "key" or "value"'
  end
  if cookie.samesite and not ({ Strict = 1, Lax = 1, None = 1 })[cookie.samesite] then
    ngx.log(ngx.WARN, "SameSite value must be 'Strict', 'Lax' or 'None'")
    cookie.samesite = nil
  end

  local before = ngx.header["Set-Cookie"]
  if type(before) == "string" then
    before = { before }
  end
  local all, prefix = {}, cookie.key .. "="
  for _, other in ipairs(before or {}) do
    if sub(other, 1, #prefix) ~= prefix then
      all[#all + 1] = other
    end
  end
  all[#all + 1] = _M.get_cookie_string(cookie)
  ngx.header["Set-Cookie"] = all
  return true
end

return _M
