-- A DNS client for nginx packages without lua-resty-dns. It implements the part of the interface of
-- resty.dns.resolver that util.dns needs: new and query. Queries use UDP, and TCP if an answer is
-- truncated.

local bit = require("bit")

local byte = string.byte
local char = string.char
local sub = string.sub
local gmatch = string.gmatch
local concat = table.concat
local ipairs = ipairs
local random = math.random
local setmetatable = setmetatable
local type = type
local band, rshift = bit.band, bit.rshift
local ngx = ngx

local _M = {
  TYPE_A = 1, TYPE_NS = 2, TYPE_CNAME = 5, TYPE_SOA = 6, TYPE_PTR = 12,
  TYPE_MX = 15, TYPE_TXT = 16, TYPE_AAAA = 28, TYPE_SRV = 33, CLASS_IN = 1,
}
local mt = { __index = _M }

local ERRORS = {
  "format error", "server failure", "name error", "not implemented", "refused",
}

local DEFAULT_PORT = 53
local MAX_UDP = 4096
local MAX_JUMPS = 64 -- in compressed names, which may contain loops
local MAX_STRAYS = 100 -- messages that answer another query

-- options: nameservers ("address" or { "address", port }), retrans (5), timeout (2000 ms).
function _M.new(class, options)
  local servers = {}
  for i, server in ipairs(options and options.nameservers or {}) do
    if type(server) == "table" then
      servers[i] = { host = server[1], port = server[2] or DEFAULT_PORT }
    else
      servers[i] = { host = server, port = DEFAULT_PORT }
    end
  end
  if #servers == 0 then
    return nil, "no nameservers specified"
  end
  return setmetatable({
    servers = servers,
    current = random(#servers), -- so workers begin with different servers
    retrans = options.retrans or 5,
    timeout = options.timeout or 2000,
  }, class == _M and mt or { __index = class })
end

local function uint16(n)
  return char(rshift(n, 8), band(n, 0xff))
end

local function encode_name(name)
  local labels = {}
  for label in gmatch(name, "[^.]+") do
    if #label > 63 then
      return nil, "a label of the name is too long: " .. name
    end
    labels[#labels + 1] = char(#label) .. label
  end
  labels[#labels + 1] = "\0"
  local encoded = concat(labels)
  if #encoded > 255 then
    return nil, "the name is too long: " .. name
  end
  return encoded
end

-- Reads a number at a position of the message. Raises an error if the message is truncated.
local function read16(message, at)
  local a, b = byte(message, at, at + 1)
  if not b then
    error("truncated", 0)
  end
  return a * 256 + b, at + 2
end

local function read32(message, at)
  local high, low
  high, at = read16(message, at)
  low, at = read16(message, at)
  return high * 65536 + low, at
end

-- Returns a name and the position after it. A compressed name continues elsewhere in the message.
local function read_name(message, at)
  local labels, after = {}, nil
  for _ = 1, MAX_JUMPS do
    local length = byte(message, at)
    if not length then
      error("truncated", 0)
    end
    if length == 0 then
      return concat(labels, "."), after or at + 1
    end
    if length >= 192 then
      local pointer
      pointer, at = read16(message, at)
      after = after or at
      at = band(pointer, 0x3fff) + 1
    else
      labels[#labels + 1] = sub(message, at + 1, at + length)
      at = at + 1 + length
    end
  end
  error("bad compression", 0)
end

local function read_ipv6(message, at)
  local groups = {}
  for i = 1, 8 do
    local group
    group, at = read16(message, at)
    groups[i] = ("%x"):format(group)
  end
  return concat(groups, ":")
end

-- Readers for the fields of a record that depend on its type.
local fields = {
  [_M.TYPE_A] = function(answer, message, at)
    if at + 3 > #message then
      error("truncated", 0)
    end
    answer.address = concat({ byte(message, at, at + 3) }, ".")
  end,
  [_M.TYPE_AAAA] = function(answer, message, at)
    answer.address = read_ipv6(message, at)
  end,
  [_M.TYPE_CNAME] = function(answer, message, at)
    answer.cname = read_name(message, at)
  end,
}

local function parse(message, id)
  local got_id, at = read16(message, 1)
  if got_id ~= id then
    return nil, "id mismatch"
  end
  local flags, questions, count
  flags, at = read16(message, at)
  questions, at = read16(message, at)
  count = read16(message, at)
  at = 13
  if band(flags, 0x8000) == 0 then
    return nil, "bad QR flag in the DNS response"
  end
  if band(flags, 0x0200) ~= 0 then
    return nil, "truncated"
  end

  local answers = {}
  local code = band(flags, 0xf)
  if code ~= 0 then
    answers.errcode, answers.errstr = code, ERRORS[code] or "unknown"
  end
  for _ = 1, questions do
    local _
    _, at = read_name(message, at)
    at = at + 4
  end
  for i = 1, count do
    local answer = { section = 1 }
    answer.name, at = read_name(message, at)
    answer.type, at = read16(message, at)
    answer.class, at = read16(message, at)
    answer.ttl, at = read32(message, at)
    local length
    length, at = read16(message, at)
    if fields[answer.type] then
      fields[answer.type](answer, message, at)
    end
    at = at + length
    answers[i] = answer
  end
  return answers
end

local function safe_parse(message, id)
  local ok, answers, err = pcall(parse, message, id)
  if not ok then
    return nil, answers
  end
  return answers, err
end

local function over_udp(self, server, question, id)
  local socket = ngx.socket.udp()
  socket:settimeout(self.timeout)
  local ok, err = socket:setpeername(server.host, server.port)
  if ok then
    ok, err = socket:send(question)
  end
  for _ = 1, ok and MAX_STRAYS or 0 do
    local message, answers
    message, err = socket:receive(MAX_UDP)
    if not message then
      break
    end
    answers, err = safe_parse(message, id)
    if err ~= "id mismatch" then -- ignore a late answer to an earlier query
      socket:close()
      return answers, err
    end
  end
  socket:close()
  return nil, err
end

local function over_tcp(self, server, question, id)
  local socket = ngx.socket.tcp()
  socket:settimeout(self.timeout)
  local ok, err = socket:connect(server.host, server.port)
  if not ok then
    return nil, err
  end
  ok, err = socket:send(uint16(#question) .. question)
  local message
  if ok then
    message, err = socket:receive(2)
  end
  if message then
    message, err = socket:receive((read16(message, 1)))
  end
  socket:close()
  if not message then
    return nil, err
  end
  return safe_parse(message, id)
end

-- Returns the list of answers, with the fields errcode and errstr if the server returned an error;
-- nil and an error if no server answered.
function _M.query(self, name, options)
  local encoded, err = encode_name(name)
  if not encoded then
    return nil, err
  end
  local id = random(0, 65535)
  local question = uint16(id) .. "\1\0\0\1\0\0\0\0\0\0" .. encoded
    .. uint16(options and options.qtype or _M.TYPE_A) .. uint16(_M.CLASS_IN)

  for _ = 1, self.retrans do
    local server = self.servers[self.current]
    self.current = self.current % #self.servers + 1
    local answers
    answers, err = over_udp(self, server, question, id)
    if err == "truncated" then
      answers, err = over_tcp(self, server, question, id)
    end
    if answers then
      return answers
    end
  end
  return nil, err
end

return _M
