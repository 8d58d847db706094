-- A small HTTP/1.1 client for nginx packages without lua-resty-http. It implements the part of the
-- interface of resty.http that OCSP needs: new, set_timeouts, request_uri. Each request has its own
-- connection.

local ngx = ngx
local pairs = pairs
local concat = table.concat
local setmetatable = setmetatable
local tonumber = tonumber

local _M = {}
local mt = { __index = _M }

-- Maximum size in bytes: the server is chosen by a certificate and may send an endless response.
local MAX_BODY = 1024 * 1024
local MAX_HEAD = 16 * 1024
local MAX_CHUNKS = 10000

function _M.new()
  return setmetatable({}, mt)
end

-- The timeouts are in milliseconds.
function _M.set_timeouts(self, connect, send, read)
  self.timeouts = { connect, send, read }
end

function _M.set_timeout(self, all)
  self:set_timeouts(all, all, all)
end

-- Reads up to a terminator, at most limit bytes. Returns the data without the terminator.
local function read_until(socket, ending, limit)
  local read = socket:receiveuntil(ending)
  local text, err = read(limit)
  if not text then
    return nil, err or "an empty line"
  end
  if #text == limit or read(1) then
    return nil, "a head or a line is too long"
  end
  return text
end

local function read_head(socket)
  local head, err = read_until(socket, "\r\n\r\n", MAX_HEAD)
  if not head then
    return nil, err
  end
  local status = tonumber(head:match("^HTTP/1%.%d (%d%d%d)"))
  if not status then
    return nil, "not an HTTP answer"
  end

  local headers = {}
  for line in head:gmatch("[^\r\n]+") do
    local name, value = line:match("^([^:]+):%s*(.*)$")
    if name then
      headers[name:lower()] = value:match("^.*%S") or ""
    end
  end
  return status, headers
end

local function read_chunks(socket)
  local parts, total = {}, 0
  for _ = 1, MAX_CHUNKS do
    local line, err = read_until(socket, "\r\n", MAX_HEAD)
    local size = line and tonumber(line:match("^%x+") or "", 16)
    if not size then
      return nil, err or "bad chunk"
    end
    if size == 0 then
      return concat(parts)
    end
    total = total + size
    if total > MAX_BODY then
      return nil, "the answer is too large"
    end
    local part
    part, err = socket:receive(size)
    if not part then
      return nil, err
    end
    parts[#parts + 1] = part
    socket:receive(2)
  end
  return nil, "the answer has too many chunks"
end

local function read_to_end(socket)
  local body, err, rest = socket:receive(MAX_BODY)
  if body then
    return nil, "the answer is too large"
  end
  if err ~= "closed" then
    return nil, err
  end
  return rest
end

local function read_body(socket, headers)
  if headers["transfer-encoding"] then
    return read_chunks(socket)
  end
  local length = tonumber((headers["content-length"] or ""):match("^%d+$") or "")
  if not length then
    return read_to_end(socket)
  end
  if length > MAX_BODY then
    return nil, "the answer is too large"
  end
  if length == 0 then
    return ""
  end
  return socket:receive(length)
end

local function write_request(socket, path, options)
  local body = options.body or ""
  local lines = {
    (options.method or "GET") .. " " .. path .. " HTTP/1.1",
    "Connection: close",
    "Content-Length: " .. #body,
  }
  for name, value in pairs(options.headers or {}) do
    lines[#lines + 1] = name .. ": " .. value
  end
  return socket:send(concat(lines, "\r\n") .. "\r\n\r\n" .. body)
end

-- uri: http or https; the host must be an address if nginx has no resolver.
-- options: method, body, headers (with Host), ssl_server_name, ssl_verify.
function _M.request_uri(self, uri, options)
  local scheme, host, port, path = uri:match("^(https?)://(%b[]):?(%d*)(.*)$")
  if not scheme then
    scheme, host, port, path = uri:match("^(https?)://([^/:]+):?(%d*)(.*)$")
  end
  if not scheme then
    return nil, "bad uri: " .. uri
  end

  local socket = ngx.socket.tcp()
  local timeouts = self.timeouts or { 5000, 5000, 5000 }
  socket:settimeouts(timeouts[1], timeouts[2], timeouts[3])
  local ok, err = socket:connect(host, tonumber(port) or (scheme == "https" and 443 or 80))
  if ok and scheme == "https" then
    ok, err = socket:sslhandshake(nil, options.ssl_server_name, options.ssl_verify ~= false)
  end
  if ok then
    ok, err = write_request(socket, path == "" and "/" or path, options)
  end
  if not ok then
    socket:close()
    return nil, err
  end

  local status, headers = read_head(socket)
  local body
  if status then
    body, err = read_body(socket, headers)
  else
    err = headers
  end
  socket:close()
  if not body then
    return nil, err
  end
  return { status = status, headers = headers, body = body }
end

return _M
