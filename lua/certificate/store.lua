-- The shared memory that stores the certificates of hosts for all workers.

local pairs = pairs
local string = string
local tostring = tostring
local type = type

-- The controller sends this id for a host that has no certificate, or no longer has one.
local NO_CERTIFICATE = "-1"

-- Functions look up ngx and its dictionaries when they run: specs reload configuration.lua with
-- different ones, but not this module.
local _M = {}

-- Stores certificates by id. If one changes, the OCSP response of the old one is deleted.
local function store_certificates(certificates, problems, evictions)
  local certificate_data = ngx.shared.certificate_data
  for uid, pem in pairs(certificates) do
    local old = certificate_data:get(uid)
    if old and old ~= pem then
      ngx.shared.ocsp_response_cache:delete(uid)
    end

    local ok, err, forcible = certificate_data:set(uid, pem)
    if not ok then
      problems[#problems + 1] = string.format("certificate %s: %s", uid, tostring(err))
    elseif forcible then
      local warning = string.format("certificate_data dictionary is full, "
        .. "LRU entry has been removed to store %s", uid)
      ngx.log(ngx.WARN, warning)
      evictions[#evictions + 1] = warning
    end
  end
end

local function store_servers(servers, problems, evictions)
  local certificate_servers = ngx.shared.certificate_servers
  for host, uid in pairs(servers) do
    local ok, err, forcible
    if uid == NO_CERTIFICATE then
      ok, err = certificate_servers:delete(host), nil
      ok = ok ~= false
    else
      ok, err, forcible = certificate_servers:set(host, uid)
    end
    if not ok then
      problems[#problems + 1] = string.format("host %s: %s", host, tostring(err))
    elseif forcible then
      local warning = string.format("certificate_servers dictionary is full, "
        .. "LRU entry has been removed to store %s", host)
      ngx.log(ngx.WARN, warning)
      evictions[#evictions + 1] = warning
    end
  end
end

-- Stores certificates by id, and the ids of hosts. Either may be missing. Returns two lists of
-- messages: entries that were not stored, and entries that were evicted.
function _M.store(certificates, servers)
  local problems, evictions = {}, {}
  -- Certificates come first: a handshake in between must not find a host whose certificate is not
  -- stored yet.
  if type(certificates) == "table" then
    store_certificates(certificates, problems, evictions)
  end
  if type(servers) == "table" then
    store_servers(servers, problems, evictions)
  end
  return problems, evictions
end

-- Returns the certificate of a host and its key as PEM; nil if there is none.
function _M.find(host)
  local uid = ngx.shared.certificate_servers:get(host)
  return uid and ngx.shared.certificate_data:get(uid)
end

return _M
