-- Resolves backends of ExternalName services: their endpoints are host names.

local dns = require("util.dns")

local ipairs = ipairs
local ngx = ngx
local pairs = pairs
local pcall = pcall
local setmetatable = setmetatable
local tostring = tostring
local type = type

local _M = {}
local Set = {}
Set.__index = Set

function _M.is(backend)
  local service = backend.service
  return type(service) == "table" and type(service.spec) == "table"
    and service.spec.type == "ExternalName"
end

-- Returns a copy of the backend with addresses in place of host names. It waits for DNS servers.
function _M.resolve(backend)
  local resolved, endpoints = {}, {}
  for key, value in pairs(backend) do
    resolved[key] = value
  end
  resolved.endpoints = endpoints
  for _, endpoint in ipairs(backend.endpoints or {}) do
    for _, address in ipairs(dns.lookup(endpoint.address)) do
      -- lookup returns the name itself if it cannot be resolved.
      if address ~= endpoint.address then
        endpoints[#endpoints + 1] = { address = address, port = endpoint.port }
      end
    end
  end
  return resolved
end

-- Returns an empty set of backends. Its field backends maps names to backends. A poll resolves each
-- of them and calls apply with the result.
function _M.new_set(apply)
  return setmetatable({ backends = {}, asking = {}, apply = apply }, Set)
end

-- Resolves a backend and applies it. It drops the answer if the backend changed or was removed
-- while it queried DNS servers.
local function refresh(self, backend)
  local first = backend.endpoints and backend.endpoints[1]
  local question = backend.name .. " " .. tostring(first and first.address)
  if self.asking[question] then
    return -- do not query a slow server again at every poll
  end
  self.asking[question] = true
  local ok, resolved = pcall(_M.resolve, backend)
  self.asking[question] = nil
  if not ok then
    ngx.log(ngx.ERR, "backend ", backend.name, " could not be resolved: ", resolved)
  elseif self.backends[backend.name] == backend then
    self.apply(resolved)
  end
end

-- Resolves each backend in its own thread, so one slow DNS server does not delay the others.
function Set.poll(self)
  for _, backend in pairs(self.backends) do
    ngx.thread.spawn(refresh, self, backend)
  end
end

return _M
