-- The HTTP API by which the controller hands over what changes without a
-- reload, and the shared memory it is kept in for all workers.

local io = io
local tostring = tostring
local ngx = ngx

local configuration_data = ngx.shared.configuration_data

local _M = {}

-- The whole second of the last POST of backends; 1 if there was none.
function _M.get_raw_backends_last_synced_at()
  return configuration_data:get("raw_backends_last_synced_at") or 1
end

-- A number that every POST of backends makes larger; nil if there was none. It
-- tells apart two POSTs of one second, which the stamp above cannot.
function _M.get_raw_backends_version()
  return configuration_data:get("raw_backends_version")
end

function _M.get_backends_data()
  return configuration_data:get("backends")
end

function _M.get_general_data()
  return configuration_data:get("general")
end

-- nginx keeps a body larger than client_body_buffer_size in a temporary file.
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

-- The data comes first: a worker that sees the new version finds the data of
-- that version or a newer one.
local function store_backends(body)
  local ok, err = configuration_data:set("backends", body)
  if not ok then
    return nil, err
  end

  ngx.update_time()
  ok, err = configuration_data:set("raw_backends_last_synced_at", ngx.time())
  if not ok then
    return nil, err
  end

  -- Counts on from the clock, not from 0: if the key was evicted from a full
  -- dictionary, a number that some worker has seen already must not come back.
  return configuration_data:incr("raw_backends_version", 1, ngx.now() * 1000)
end

-- One text, not several: it can be looked for.
local function fail(status, text, err)
  ngx.log(ngx.ERR, "dynamic-configuration: " .. text .. (err or ""))
  ngx.status = status
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
  local ok, err = store_backends(body)
  if not ok then
    return fail(ngx.HTTP_BAD_REQUEST, "error updating configuration: ", tostring(err))
  end
  ngx.status = ngx.HTTP_CREATED
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

-- What answers at which request URI.
local handlers = {
  ["/configuration/backends"] = handle_backends,
  ["/configuration/general"] = handle_general,
}

function _M.call()
  local method = ngx.var.request_method
  if method ~= "GET" and method ~= "POST" then
    ngx.status = ngx.HTTP_BAD_REQUEST
    ngx.print("Only POST and GET requests are allowed!")
    return
  end

  local handle = handlers[ngx.var.request_uri]
  if not handle then
    ngx.status = ngx.HTTP_NOT_FOUND
    ngx.print("Not found!")
    return
  end
  handle()
end

return _M
