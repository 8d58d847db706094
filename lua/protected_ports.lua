-- The protected ports: the controller's own ports on loopback, for configuration and internal data.
-- A user who controls an endpoint, a DNS name or a certificate must not reach them through nginx.

local ngx = ngx
local ipairs = ipairs
local tonumber = tonumber
local tostring = tostring

local _M = {}

local protected = {} -- ports, as text
local removed = {} -- by backend: the last endpoint that was removed

-- Adds ports, a list of numbers or strings.
function _M.add(ports)
  for _, port in ipairs(ports) do
    protected[tostring(port)] = true
  end
end

-- Returns the four numbers of an IPv4 address; nil if it is not one. nginx accepts only decimal
-- numbers.
local function ipv4(text)
  local a, b, c, d = text:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  return tonumber(a), tonumber(b), tonumber(c), tonumber(d)
end

-- Returns the groups of a colon-separated part of an IPv6 address. The last two may be written as
-- an IPv4 address. Invalid groups are left out.
local function groups_of(part)
  local groups = {}
  for text in part:gmatch("[^:]+") do
    local a, b, c, d = ipv4(text)
    if a then
      groups[#groups + 1], groups[#groups + 2] = a * 256 + b, c * 256 + d
    else
      groups[#groups + 1] = tonumber(text:match("^%x+$") or "", 16)
    end
  end
  return groups
end

-- Returns the eight groups of an IPv6 address (RFC 4291, 2.2); nil if the text is not one.
local function ipv6(text)
  local before, after = text:match("^(.-)::(.*)$")
  if after and after:find("::", 1, true) then
    return nil
  end
  local groups = groups_of(before or text)
  if before then
    local rest = groups_of(after)
    for _ = #groups + #rest + 1, 8 do
      groups[#groups + 1] = 0
    end
    for _, group in ipairs(rest) do
      groups[#groups + 1] = group
    end
  end
  return #groups == 8 and groups or nil
end

-- Reports whether an address is loopback. The unspecified address and addresses that cannot be
-- parsed count as loopback.
local function is_loopback(address)
  local first = ipv4(address)
  if first then
    return first == 127 or first == 0
  end
  local groups = ipv6(address:match("^%[(.*)%]$") or address)
  if not groups then
    return true
  end
  for i = 1, 5 do
    if groups[i] ~= 0 then
      return false
    end
  end
  if groups[6] == 0xffff then -- an IPv4-mapped address
    return groups[7] < 256 or groups[7] >= 127 * 256 and groups[7] < 128 * 256
  end
  return groups[6] == 0
end

-- Reports whether an address (IPv6 with or without brackets) and a port lead to a protected port.
function _M.includes(address, port)
  return protected[tostring(port)] ~= nil and is_loopback(address)
end

-- Returns the first endpoint that leads to a protected port.
local function first_among(endpoints)
  for _, endpoint in ipairs(endpoints) do
    if _M.includes(endpoint.address, endpoint.port) then
      return endpoint.address .. ":" .. endpoint.port
    end
  end
end

-- Removes a backend's endpoints that lead to protected ports. Logs a line when the first changes.
function _M.remove_from(backend)
  local first = first_among(backend.endpoints)
  if first and removed[backend.name] ~= first then
    ngx.log(ngx.ERR, "attempted to proxy to self, backend: ", backend.name, ", peer: ", first,
      ", which is a port of the controller; ignoring it")
  end
  removed[backend.name] = first
  if not first then
    return
  end

  local kept = {}
  for _, endpoint in ipairs(backend.endpoints) do
    if not _M.includes(endpoint.address, endpoint.port) then
      kept[#kept + 1] = endpoint
    end
  end
  backend.endpoints = kept
end

-- Reports whether nginx itself has proxied the request: every location that proxies sets at least
-- one of these headers.
function _M.is_proxied(var)
  return var.http_x_forwarded_for ~= nil or var.http_x_real_ip ~= nil
    or var.http_x_sent_from ~= nil
end

return _M
