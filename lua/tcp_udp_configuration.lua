-- Receives the endpoints of TCP and UDP services from the controller, as one line of JSON, and
-- stores them in shared memory for all workers.

local cjson = require("cjson.safe")

local ngx = ngx
local tostring = tostring
local type = type

local data = ngx.shared.tcp_udp_configuration_data

-- Optional field: secret, with which every line must begin.
local _M = {}

function _M.get_backends_data()
  return data:get("backends")
end

-- Returns the time of the last line, in whole seconds; 1 if there was none.
function _M.get_raw_backends_last_synced_at()
  return data:get("raw_backends_last_synced_at") or 1
end

-- Returns a number that increases with every line; see configuration.
function _M.get_raw_backends_version()
  return data:get("raw_backends_version")
end

-- Stores the data before its version, as in configuration.
local function store(line)
  local old = data:get("backends")
  local ok, err = data:set("backends", line)
  if not ok then
    -- The failed set has evicted the old data. Restore it for new workers.
    if old then
      data:set("backends", old)
    end
    return nil, err
  end
  ngx.update_time()
  ok, err = data:set("raw_backends_last_synced_at", ngx.time())
  if not ok then
    return nil, err
  end
  return data:incr("raw_backends_version", 1, ngx.now() * 1000)
end

local function receive(socket)
  local read, err = socket:receiveuntil("\r\n")
  if not read then
    return nil, err
  end
  return read()
end

-- Returns the line without the leading secret; nil if the secret is wrong. Without a configured
-- secret, returns the whole line.
local function authenticated(line)
  if not _M.secret then
    return line
  end
  local prefix = "Bearer " .. _M.secret .. " "
  return line:sub(1, #prefix) == prefix and line:sub(#prefix + 1) or nil
end

-- Parses and stores a line. It parses the line here, because the controller learns of errors only
-- from the answer.
local function take(line)
  line = authenticated(line)
  if not line then
    return nil, "the controller's secret is wrong or missing"
  end
  local backends, err = cjson.decode(line)
  if type(backends) ~= "table" then
    return nil, "could not parse backends data: " .. (err or "not a list")
  end
  local ok
  ok, err = store(line)
  if not ok then
    return nil, "could not store backends data: " .. tostring(err)
  end
  return true
end

function _M.call()
  local socket, err = ngx.req.socket(true)
  if not socket then
    ngx.log(ngx.ERR, "failed to get the raw socket: " .. tostring(err))
    ngx.say("error: ", err)
    return
  end

  local line, read_err = receive(socket)
  if not line then
    ngx.log(ngx.ERR, "failed to receive backends data: " .. tostring(read_err))
    socket:send("error: " .. tostring(read_err))
    return
  end
  if line == "" then
    return -- only a check that the port is open
  end

  local ok
  ok, err = take(line)
  if not ok then
    ngx.log(ngx.ERR, err)
    socket:send("error: " .. err)
  end
end

return _M
