-- Implements the features that all requests need, regardless of their backend: the original host,
-- port and scheme, redirects to https, HSTS.

local io = io
local math = math
local string = string
local tonumber = tonumber
local tostring = tostring
local ngx = ngx

local certificate = require("certificate")

local _M = {}

local config -- cfg.json

local seed_random = math.randomseed
local seeded_worker

-- Allows only one seed per worker. Third-party modules seed from the clock when they are loaded;
-- then all workers would get the same seed and choose the same nodes at the same time.
math.randomseed = function(seed)
  local pid = ngx.worker.pid()
  if seeded_worker == pid then
    ngx.log(ngx.WARN, string.format(
      "ignoring math.randomseed(%s) since PRNG is already seeded for worker %d",
      tostring(seed), pid))
    return
  end
  seeded_worker = pid
  seed_random(seed)
end

local function random_seed()
  local file, err = io.open("/dev/urandom", "rb")
  if not file then
    return nil, err
  end
  local bytes = file:read(4)
  file:close()
  if not bytes or #bytes < 4 then
    return nil, "/dev/urandom returned too few bytes"
  end

  local a, b, c, d = bytes:byte(1, 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

function _M.init_worker()
  local seed, err = random_seed()
  if not seed then
    ngx.log(ngx.WARN, "no random seed, using the clock and the PID: ", err)
    seed = ngx.now() * 1000 + ngx.worker.pid()
  end
  math.randomseed(seed)
end

function _M.set_config(new_config)
  config = new_config
end

-- Returns the host without its port. It keeps the colons inside the brackets of an IPv6 address.
local function without_port(host)
  return (host:gsub(":%d+$", ""))
end

-- Returns the first item of a list. If several proxies have appended to it, that is the client's
-- own value. Takes linear time for any value that a client sends.
local function first_of_list(text)
  local comma = text:find(",", 1, true)
  local first = comma and text:sub(1, comma - 1) or text
  return first:match("^.*%S") or ""
end

-- Sets the header that nginx's realip module reads: the addresses from the proxies' header,
-- followed by the peer from the PROXY protocol. realip has already read the header when Lua runs,
-- so a client that sends the header could choose its address. Such a request gets 400.
function _M.chain_addresses()
  if ngx.req.is_internal() then
    return
  end
  local var = ngx.var
  local header = var.address_chain_header
  if var["http_" .. header:lower():gsub("-", "_")] then
    return ngx.exit(ngx.HTTP_BAD_REQUEST)
  end
  ngx.req.set_header(header, var.full_x_forwarded_for)
end

-- Returns the port that the client connected to, if known.
local function server_port()
  local port = ngx.var.server_port
  if config.use_proxy_protocol then
    local port_of_proxy = ngx.var.proxy_protocol_server_port
    if port_of_proxy and port_of_proxy ~= "" then
      return port_of_proxy
    end
  end
  if config.is_ssl_passthrough_enabled and port == config.listen_ports.ssl_proxy then
    return "443" -- hide the port to which the controller forwards connections
  end
  return port
end

-- Returns the scheme that the client used. A load balancer on port 443 that uses the PROXY protocol
-- may have terminated TLS.
local function server_scheme()
  local var = ngx.var
  if config.use_proxy_protocol and var.proxy_protocol_server_port == "443" then
    return "https"
  end
  return var.scheme
end

-- Sets the variables with the scheme, host and port that the client used, which nginx passes to the
-- backend.
local function set_origin()
  local var = ngx.var
  var.pass_access_scheme = var.scheme
  var.best_http_host = var.http_host or var.host

  if config.use_forwarded_headers then
    var.pass_access_scheme = var.http_x_forwarded_proto or var.pass_access_scheme
    var.pass_server_port = var.http_x_forwarded_port or var.pass_server_port
    local hosts = var.http_x_forwarded_host
    if hosts then
      var.best_http_host = first_of_list(hosts)
    end
  end

  if config.use_proxy_protocol and var.proxy_protocol_server_port == "443" then
    var.pass_access_scheme = "https"
  end

  local port, listen = var.pass_server_port, config.listen_ports
  if port == listen.https or (config.is_ssl_passthrough_enabled and port == listen.ssl_proxy) then
    port = "443" -- nginx may listen on another port than the one that clients use
  end
  var.pass_port = port
end

local function wants_https()
  local var = ngx.var
  if var.force_no_ssl_redirect == "true" or var.pass_access_scheme ~= "http" then
    return false
  end
  if var.force_ssl_redirect == "true" then
    return true
  end
  -- Do not redirect without a certificate for the host: browsers reject the fallback certificate.
  return var.ssl_redirect == "true" and certificate.configured_for_current_request()
end

local function https_url()
  local var = ngx.var
  local host = without_port(var.best_http_host)
  if var.use_port_in_redirects == "true" then
    host = host .. ":" .. config.listen_ports.https
  end

  local uri = var.request_uri
  if var.preserve_trailing_slash ~= "true" and uri:sub(-1) == "/" then
    uri = uri:sub(1, -2)
  end
  return "https://" .. host .. uri
end

-- Returns the URL of the same URI on another host, at the port that the client used. Drops a
-- trailing slash.
function _M.url_at_host(host)
  local var = ngx.var
  local scheme, port = server_scheme(), server_port()
  if config.use_forwarded_headers then
    scheme = var.http_x_forwarded_proto or scheme
    port = var.http_x_forwarded_port or port
  end
  local uri = var.request_uri
  if uri:sub(-1) == "/" then
    uri = uri:sub(1, -2)
  end
  return scheme .. "://" .. host .. ":" .. port .. uri
end

function _M.rewrite()
  set_origin()
  if wants_https() then
    return ngx.redirect(https_url(), tonumber(config.http_redirect_code))
  end
end

local function hsts_value()
  local value = "max-age=" .. config.hsts_max_age
  if config.hsts_include_subdomains then
    value = value .. "; includeSubDomains"
  end
  if config.hsts_preload then
    value = value .. "; preload"
  end
  return value
end

function _M.header()
  if config.hsts and ngx.var.scheme == "https" then
    ngx.header["Strict-Transport-Security"] = hsts_value()
  end
end

return _M
