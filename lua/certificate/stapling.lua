-- OCSP stapling. A handshake never waits for a response: it uses the cached one. A missing or old
-- response is fetched in the background, for later handshakes.

local http = require("resty.http")
local ocsp = require("ngx.ocsp")
local ssl = require("ngx.ssl")
local dns = require("util.dns")
local protected_ports = require("protected_ports")

local ngx = ngx
local string = string
local tostring = tostring

local cache = ngx.shared.ocsp_response_cache
local certificate_data = ngx.shared.certificate_data

local _M = {}

-- Lifetime of a cached response, in seconds. Responses are usually valid for a week.
local EXPIRY = 3 * 24 * 3600
-- Seconds between two attempts: do not ask a responder that is down at every handshake.
local RETRY_AFTER = 10
local MAX_ERROR = 200
local DEFAULT_PORTS = { http = 80, https = 443 }

-- This worker's last fetch by certificate id: the chain, and the earliest time of the next fetch.
local fetches = {}

local function address(host)
  if host:find("^[%d.]+$") or host:sub(1, 1) == "[" then
    return host
  end
  local found = dns.lookup(host)[1]
  if found and found:find(":", 1, true) and found:sub(1, 1) ~= "[" then
    found = "[" .. found .. "]"
  end
  return found
end

-- Sends the request to an address resolved here, because nginx's own resolver may not be
-- configured.
local function ask(url, request)
  local client = http.new()
  client:set_timeouts(1000, 1000, 2000)

  local scheme, authority, path = url:match("^(https?)://([^/]+)(.*)$")
  if not scheme then
    return nil, "not a URL: " .. url
  end
  local host, port = authority:match("^(.*):(%d+)$")
  host = host or authority:gsub(":$", "")
  local ip = address(host)
  if protected_ports.includes(ip, port or DEFAULT_PORTS[scheme]) then
    return nil, "the responder is a port of the controller"
  end
  local target = string.format("%s://%s%s%s", scheme, ip,
    port and ":" .. port or "", path == "" and "/" or path)
  local answer, err = client:request_uri(target, {
    method = "POST",
    body = request,
    headers = { ["Host"] = authority, ["Content-Type"] = "application/ocsp-request" },
    ssl_server_name = host,
  })
  if not answer then
    return nil, err
  end
  if answer.status ~= 200 then
    return nil, "status " .. tostring(answer.status)
  end
  return answer.body
end

local function fetch(chain)
  local url, err = ocsp.get_ocsp_responder_from_der_chain(chain)
  if not url then
    return nil, err, err == nil -- the certificate names no responder
  end
  local request
  request, err = ocsp.create_ocsp_request(chain)
  if not request then
    return nil, "creating the request: " .. err
  end
  local response
  response, err = ask(url, request)
  if not response or #response == 0 then
    return nil, "asking " .. url .. ": " .. (err or "empty response")
  end

  -- The issuer of the certificate must have signed the response: clients abort the handshake
  -- otherwise.
  local ok
  ok, err = ocsp.validate_ocsp_response(response, chain, MAX_ERROR)
  if not ok then
    return nil, "validating the response of " .. url .. ": " .. err
  end
  return response
end

-- Reports whether a certificate still has this chain. If not, its response was deleted.
local function has_chain(uid, chain)
  local pem = certificate_data:get(uid)
  return pem and ssl.cert_pem_to_der(pem) == chain
end

local function refresh(premature, uid, chain)
  if premature then
    return
  end
  local response, err, none = fetch(chain)
  if none then
    fetches[uid] = { chain = chain, again = ngx.now() + EXPIRY }
    return
  end
  if not response then
    ngx.log(ngx.ERR, "OCSP response of certificate " .. uid .. ": " .. tostring(err))
    return
  end

  if not has_chain(uid, chain) then
    ngx.log(ngx.INFO, "OCSP response of certificate " .. uid .. ": it was renewed meanwhile")
    return
  end
  local ok, set_err, forcible = cache:set(uid, response, EXPIRY)
  if not ok then
    ngx.log(ngx.ERR, "ocsp_response_cache: " .. set_err)
  elseif forcible then
    ngx.log(ngx.NOTICE, "ocsp_response_cache is full: another response was evicted")
  end
end

-- Reports whether this worker may fetch a response now. A renewed certificate does not wait: it may
-- have another responder.
local function is_due(uid, chain)
  local last = fetches[uid]
  return not last or last.chain ~= chain or last.again <= ngx.now()
end

function _M.staple(uid, chain)
  local response, _, stale = cache:get_stale(uid)
  if not response or stale then
    if is_due(uid, chain) then
      fetches[uid] = { chain = chain, again = ngx.now() + RETRY_AFTER }
      local ok, err = ngx.timer.at(0, refresh, uid, chain)
      if not ok then
        ngx.log(ngx.ERR, "could not fetch an OCSP response: " .. err)
      end
    end
  end

  if response then
    local ok, err = ocsp.set_ocsp_status_resp(response)
    if not ok then
      ngx.log(ngx.ERR, "setting the OCSP response: " .. err)
    end
  end
end

return _M
