-- Resolves backends of ExternalName services: their endpoints are host names.

local dns = require("util.dns")

local ipairs = ipairs
local pairs = pairs
local type = type

local _M = {}

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

return _M
