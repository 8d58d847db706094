-- Sends a record of each request to the controller, for its metrics. Records are sent in batches,
-- once a second, so requests do not wait.

local cjson = require("cjson.safe")
local new_table = require("table.new")
local clear_table = require("table.clear")

local ngx = ngx
local tcp = ngx.socket.tcp
local tonumber = tonumber
local tostring = tostring

local _M = {}

local SOCKET = "unix:/tmp/nginx/prometheus-nginx.socket"
-- Seconds between two batches.
local FLUSH_INTERVAL = 1
local DEFAULT_BATCH = 10000

local address = SOCKET
local max_size = DEFAULT_BATCH
local batch, count = new_table(DEFAULT_BATCH, 0), 0
local dropped = 0

-- Ignores sizes below the default: the controller can only increase it.
function _M.set_metrics_max_batch_size(size)
  if size > DEFAULT_BATCH then
    max_size = size
  end
end

function _M.get_metrics_batch()
  return batch
end

local function number(text)
  return tonumber(text) or -1 -- also -1 for lists, which have a value per attempt
end

-- The fields are in the order of the wire format: some encoders keep the order of insertion.
local function record()
  local var = ngx.var
  return {
    host = var.host or "-",
    namespace = var.namespace or "-",
    ingress = var.ingress_name or "-",
    service = var.service_name or "-",
    canary = var.proxy_alternative_upstream_name or "-",
    path = var.location_path or "-",

    method = var.request_method or "-",
    status = var.status or "-",
    requestLength = number(var.request_length),
    requestTime = number(var.request_time),
    responseLength = number(var.bytes_sent),

    upstreamLatency = number(var.upstream_connect_time),
    upstreamHeaderTime = number(var.upstream_header_time),
    upstreamResponseTime = number(var.upstream_response_time),
    upstreamResponseLength = number(var.upstream_response_length),
  }
end

local function send(payload)
  local socket, err = tcp()
  if not socket then
    return nil, err
  end
  local ok
  ok, err = socket:connect(address)
  if not ok then
    return nil, "connecting to " .. address .. ": " .. tostring(err)
  end
  ok, err = socket:send(payload)
  if not ok then
    return nil, err
  end
  return socket:close()
end

function _M.flush(premature)
  if premature then
    return
  end
  if dropped > 0 then
    ngx.log(ngx.WARN, "metrics of ", dropped, " requests were dropped: more than ", max_size,
      " arrived between two batches")
    dropped = 0
  end
  if count == 0 then
    return
  end

  -- Empty the batch before sending: sending yields, and new requests arrive in the meantime.
  local payload, err = cjson.encode(batch)
  clear_table(batch)
  count = 0
  if not payload then
    ngx.log(ngx.ERR, "error while encoding metrics: " .. tostring(err))
    return
  end
  local ok
  ok, err = send(payload)
  if not ok then
    ngx.log(ngx.ERR, "error while sending metrics: " .. tostring(err))
  end
end

-- path: the socket, if it differs from the default.
function _M.init_worker(max_batch_size, path)
  if max_batch_size then
    _M.set_metrics_max_batch_size(max_batch_size)
  end
  if path then
    address = path
  end
  local ok, err = ngx.timer.every(FLUSH_INTERVAL, _M.flush)
  if not ok then
    ngx.log(ngx.ERR, "failed to create timer: " .. err)
  end
end

-- Runs in the log phase.
function _M.call()
  if count >= max_size then
    dropped = dropped + 1
    return
  end
  count = count + 1
  batch[count] = record()
end

return _M
