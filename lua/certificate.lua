-- Chooses the certificate of a TLS handshake by the host that the client requests (SNI).

local ssl = require("ngx.ssl")
local stapling = require("certificate.stapling")

local io = io
local ngx = ngx
local find = string.find
local sub = string.sub
local lower = string.lower
local tostring = tostring

local certificate_data = ngx.shared.certificate_data
local certificate_servers = ngx.shared.certificate_servers

-- The key of the default certificate.
local DEFAULT_HOST = "_"

local _M = { is_ocsp_stapling_enabled = false }

-- The certificate chain and key of handshakes without a stored certificate; nil if nginx.conf has
-- them.
local default_chain, default_key

-- Returns the id of the certificate of a host, or of the wildcard host that covers it.
local function uid_of(host)
  local uid = certificate_servers:get(host)
  if uid then
    return uid
  end
  local dot = find(host, ".", 1, true)
  return dot and certificate_servers:get("*" .. sub(host, dot))
end

-- Normalizes a host name: DNS ignores case and a trailing dot.
local function normal(host)
  host = lower(host)
  if sub(host, -1) == "." then
    host = sub(host, 1, -2)
  end
  return host
end

local function parse_default(path)
  local file, err = io.open(path, "rb")
  if not file then
    return nil, err
  end
  local pem = file:read("*a")
  file:close()

  local chain
  chain, err = ssl.parse_pem_cert(pem)
  if not chain then
    return nil, err
  end
  local key
  key, err = ssl.parse_pem_priv_key(pem)
  return key and chain, err, key
end

-- Loads the certificate of handshakes without a stored certificate. path names a PEM file with its
-- chain and key. nginx would load it once for each server, and at each reload.
function _M.load_default(path)
  local err
  default_chain, err, default_key = parse_default(path)
  if not default_chain then
    ngx.log(ngx.ERR, "the default certificate, ", path, ", cannot be loaded: ", err)
  end
end

-- Sets the default certificate. Without one, that of nginx.conf stays.
local function set_default()
  if not default_chain then
    return true
  end
  local ok, err = ssl.clear_certs()
  if ok then
    ok, err = ssl.set_cert(default_chain)
  end
  if ok then
    ok, err = ssl.set_priv_key(default_key)
  end
  return ok, err
end

-- Sets the certificate chain and key of the handshake. Returns the chain in DER.
local function set_certificate(pem)
  local ok, err = ssl.clear_certs()
  if not ok then
    return nil, "failed to clear existing (fallback) certificates: " .. err
  end

  local chain
  chain, err = ssl.cert_pem_to_der(pem)
  if not chain then
    return nil, "failed to convert certificate chain from PEM to DER: " .. err
  end
  ok, err = ssl.set_der_cert(chain)
  if not ok then
    return nil, "failed to set DER cert: " .. err
  end

  local key
  key, err = ssl.priv_key_pem_to_der(pem)
  if not key then
    return nil, "failed to convert private key from PEM to DER: " .. err
  end
  ok, err = ssl.set_der_priv_key(key)
  if not ok then
    return nil, "failed to set DER private key: " .. err
  end
  return chain
end

-- Reports whether the host of this request has its own certificate, which a redirect to https
-- needs. Caches the result per request.
function _M.configured_for_current_request()
  local ctx = ngx.ctx
  local configured = ctx.cert_configured_for_current_request
  if configured == nil then
    local host = ngx.var.host
    configured = host ~= nil and uid_of(normal(host)) ~= nil
    ctx.cert_configured_for_current_request = configured
  end
  return configured
end

-- Runs in the handshake.
function _M.call()
  local host, err = ssl.server_name()
  if err then
    ngx.log(ngx.ERR, "error while obtaining hostname: " .. err)
  end
  host = host and normal(host) or DEFAULT_HOST

  local uid = uid_of(host) or certificate_servers:get(DEFAULT_HOST)
  local pem = uid and certificate_data:get(uid)
  if not pem then
    ngx.log(ngx.INFO, "no certificate for " .. host .. ", using the default one")
    local ok
    ok, err = set_default()
    if not ok then
      ngx.log(ngx.ERR, "failed to set the default certificate: ", err)
      return ngx.exit(ngx.ERROR)
    end
    return
  end

  local chain
  chain, err = set_certificate(pem)
  if not chain then
    ngx.log(ngx.ERR, tostring(err))
    return ngx.exit(ngx.ERROR)
  end
  if _M.is_ocsp_stapling_enabled then
    stapling.staple(uid, chain)
  end
end

return _M
