-- The HTTP API through which the controller sends changes that need no reload, and the shared
-- memory that stores them for all workers.

local certificate_store = require("certificate.store")
local cjson = require("cjson.safe")
local deltas = require("deltas")
local protected_ports = require("protected_ports")

local floor = math.floor
local io = io
local pairs = pairs
local string = string
local table = table
local tonumber = tonumber
local tostring = tostring
local type = type
local ngx = ngx
local setmetatable = setmetatable

local configuration_data = ngx.shared.configuration_data

-- Optional fields: worker_report, the module; accepts_deltas, whether to accept deltas; secret,
-- which every POST must contain.
local _M = {}

-- Returns the time of the last POST of backends, in whole seconds; 1 if there was none.
function _M.get_raw_backends_last_synced_at()
  return configuration_data:get("raw_backends_last_synced_at") or 1
end

-- Returns a number that increases with every POST of backends; nil if there was none. It
-- distinguishes two POSTs within one second, which the timestamp above cannot.
function _M.get_raw_backends_version()
  return configuration_data:get("raw_backends_version")
end

-- Returns the same for POSTs of certificates.
function _M.get_certificates_version()
  return configuration_data:get("certificates_version")
end

-- A missing key starts at the current time in milliseconds, not at 0: after an eviction from a full
-- dictionary, a number that a worker has already seen must not be reused.
local function next_version(key)
  return configuration_data:incr(key, 1, floor(ngx.now() * 1000))
end

function _M.get_backends_data()
  if _M.accepts_deltas then
    return deltas.whole()
  end
  return configuration_data:get("backends")
end

-- Returns the deltas from one version to another; nil if a worker must read all backends.
function _M.get_backends_deltas(from, to)
  if _M.accepts_deltas and from and to then
    return deltas.between(from, to)
  end
end

function _M.get_general_data()
  return configuration_data:get("general")
end

-- Returns the body of the request. nginx stores a body larger than client_body_buffer_size in a
-- temporary file.
local function request_body()
  ngx.req.read_body()
  local body = ngx.req.get_body_data()
  if body then
    return body
  end

  local path = ngx.req.get_body_file()
  if not path then
    return nil
  end
  local file, err = io.open(path, "rb")
  if not file then
    ngx.log(ngx.ERR, "dynamic-configuration: ", err)
    return nil
  end
  body = file:read("*a")
  file:close()
  return body
end

-- Increases the version after the data is stored, so a worker that sees the new version finds its
-- data or newer data.
local function stamp_backends()
  ngx.update_time()
  local ok, err = configuration_data:set("raw_backends_last_synced_at", ngx.time())
  if not ok then
    return nil, err
  end
  return next_version("raw_backends_version")
end

local function set_backends(body)
  local old = configuration_data:get("backends")
  local ok, err, forcible = configuration_data:set("backends", body)
  if not ok then
    -- The failed set has evicted the old data. Restore it for new workers.
    if old then
      configuration_data:set("backends", old)
    end
    return nil, err
  end
  if forcible then
    ngx.log(ngx.WARN, "configuration_data dictionary is full, "
      .. "LRU entry has been removed to store backends")
  end
  return true
end

local function store_backends(body)
  if not _M.accepts_deltas then
    local ok, err = set_backends(body)
    if not ok then
      return nil, err
    end
    return stamp_backends()
  end

  local suspended = deltas.suspend()
  local ok, err = set_backends(body)
  if not ok then
    deltas.restore(suspended)
    return nil, err
  end
  deltas.forget(suspended)
  local version
  version, err = stamp_backends()
  deltas.follow(version)
  return version, err
end

-- Logs an error and sends it to the client. The message is one string, so it can be found in the
-- log.
local function fail(status, text, err)
  ngx.log(ngx.ERR, "dynamic-configuration: " .. text .. (err or ""))
  ngx.status = status
  ngx.print(text .. (err or ""))
end

-- Refuses a request with another method, and reports whether it did.
local function is_refused_unless(method)
  if ngx.var.request_method == method then
    return false
  end
  ngx.status = ngx.HTTP_BAD_REQUEST
  ngx.print("Only " .. method .. " requests are allowed!")
  return true
end

-- Answers 201. With the version in the body, the controller can check which workers serve the data,
-- and later send deltas based on it.
local function created(version)
  ngx.status = ngx.HTTP_CREATED
  if _M.worker_report or _M.accepts_deltas then
    ngx.print(string.format("%.0f", version))
  end
end

local function handle_backends()
  if ngx.var.request_method == "GET" then
    ngx.status = ngx.HTTP_OK
    ngx.print(_M.get_backends_data())
    return
  end

  local body = request_body()
  if not body then
    return fail(ngx.HTTP_BAD_REQUEST, "unable to read valid request body")
  end
  local version, err = store_backends(body)
  if not version then
    return fail(ngx.HTTP_BAD_REQUEST, "error updating configuration: ", tostring(err))
  end
  created(version)
end

local function handle_delta()
  if not _M.accepts_deltas then
    ngx.status = ngx.HTTP_NOT_FOUND
    ngx.print("Not found!")
    return
  end
  if is_refused_unless("POST") then
    return
  end

  local body = request_body()
  if not body then
    return fail(ngx.HTTP_BAD_REQUEST, "unable to read valid request body")
  end
  local base = tonumber(ngx.req.get_uri_args().base)
  local ok, err, all_wanted = deltas.add(body, base)
  if not ok and all_wanted then
    ngx.status = ngx.HTTP_CONFLICT
    ngx.print(tostring(err))
    return
  end
  if not ok then
    return fail(ngx.HTTP_BAD_REQUEST, "error updating configuration: ", tostring(err))
  end
  local version
  version, err = stamp_backends()
  if not version then
    return fail(ngx.HTTP_BAD_REQUEST, "error updating configuration: ", tostring(err))
  end
  created(version)
end

local function handle_general()
  if ngx.var.request_method == "GET" then
    ngx.status = ngx.HTTP_OK
    ngx.print(_M.get_general_data())
    return
  end

  local body = request_body()
  if not body then
    return fail(ngx.HTTP_BAD_REQUEST, "unable to read valid request body")
  end
  local ok, err = configuration_data:safe_set("general", body)
  if not ok then
    return fail(ngx.HTTP_INTERNAL_SERVER_ERROR, "error updating general config: ", tostring(err))
  end
  ngx.status = ngx.HTTP_CREATED
end

local function handle_servers()
  if is_refused_unless("POST") then
    return
  end

  local config, err = cjson.decode(request_body() or "")
  if type(config) ~= "table" then
    return fail(ngx.HTTP_BAD_REQUEST, "could not parse servers: ", err or "not a JSON object")
  end

  local problems, evictions = certificate_store.store(config.certificates, config.servers)
  if #problems > 0 then
    return fail(ngx.HTTP_INTERNAL_SERVER_ERROR, "storing certificates: ",
      table.concat(problems, ", "))
  end
  next_version("certificates_version")
  ngx.status = ngx.HTTP_CREATED
  if #evictions > 0 then
    ngx.print(table.concat(evictions, "\n")) -- report evictions to the controller
  end
end

local function handle_certs()
  if is_refused_unless("GET") then
    return
  end

  local host = ngx.req.get_uri_args().hostname
  if type(host) ~= "string" or host == "" then
    ngx.status = ngx.HTTP_BAD_REQUEST
    ngx.print("Hostname must be specified.")
    return
  end
  local pem = certificate_store.find(host)
  if not pem then
    ngx.status = ngx.HTTP_NOT_FOUND
    ngx.print("No key associated with this hostname.")
    return
  end
  ngx.status = ngx.HTTP_OK
  ngx.print(pem)
end

local function handle_workers()
  if not _M.worker_report then
    ngx.status = ngx.HTTP_NOT_FOUND
    ngx.print("Not found!")
    return
  end
  ngx.status = ngx.HTTP_OK
  ngx.print(_M.worker_report.tell(_M.get_certificates_version()))
end

-- Answers with the capacity of each shared dictionary of the http block and its free space in whole
-- pages, both in bytes.
local function handle_dictionaries()
  if is_refused_unless("GET") then
    return
  end

  local sizes = {}
  for name, dictionary in pairs(ngx.shared) do
    sizes[name] = { capacity = dictionary:capacity(), free = dictionary:free_space() }
  end
  ngx.status = ngx.HTTP_OK
  ngx.print(cjson.encode(sizes))
end

-- Handlers by request URI.
local handlers = {
  ["/configuration/dictionaries"] = handle_dictionaries,
  ["/configuration/servers"] = handle_servers,
  ["/configuration/backends"] = handle_backends,
  ["/configuration/general"] = handle_general,
  ["/configuration/workers"] = handle_workers,
}

local handlers_with_arguments = {
  ["/configuration/certs"] = handle_certs,
  ["/configuration/backends/delta"] = handle_delta,
}

-- Returns the reason why a request is refused; nil if it is accepted. Tools in the pod may read
-- without the secret; proxied requests are always refused.
local function forbidden(method)
  local var = ngx.var
  if protected_ports.is_proxied(var) then
    return "a proxied request"
  end
  if method == "POST" and _M.secret and var.http_authorization ~= "Bearer " .. _M.secret then
    return "a request without the controller's secret"
  end
end

function _M.call()
  local method = ngx.var.request_method
  if method ~= "GET" and method ~= "POST" then
    ngx.status = ngx.HTTP_BAD_REQUEST
    ngx.print("Only POST and GET requests are allowed!")
    return
  end
  local reason = forbidden(method)
  if reason then
    ngx.log(ngx.ERR, "dynamic-configuration: refused ", reason)
    ngx.status = ngx.HTTP_FORBIDDEN
    ngx.print("Forbidden")
    return
  end

  local handle = handlers[ngx.var.request_uri] or handlers_with_arguments[ngx.var.uri]
  if not handle then
    ngx.status = ngx.HTTP_NOT_FOUND
    ngx.print("Not found!")
    return
  end
  handle()
end

-- For specs.
setmetatable(_M, { __index = { handle_servers = handle_servers } })

return _M
