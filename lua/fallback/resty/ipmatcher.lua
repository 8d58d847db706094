-- Matches IP addresses against addresses and networks, with the interface of api7's lua-resty-
-- ipmatcher, for nginx packages without that library. Of several networks that contain an address,
-- the smallest one matches.

local ffi = require("ffi")
local bit = require("bit")

local floor = math.floor
local ipairs = ipairs
local pairs = pairs
local pcall = pcall
local setmetatable = setmetatable
local string = string
local table = table
local tonumber = tonumber
local tostring = tostring
local type = type

-- Another module may have declared the function.
pcall(ffi.cdef, "int inet_pton(int af, const char *src, void *dst);")

local AF_INET = 2
local AF_INET6 = ffi.os == "Linux" and 10 or (ffi.os == "OSX" and 30 or 28)

local _M = {}
local mt = { __index = _M }

-- Returns an address as 4 or 16 bytes, in network order; nil if it is not valid.
local function binary(address)
  if type(address) ~= "string" then
    return nil
  end
  address = address:match("^%[(.*)%]$") or address
  local family, size = AF_INET, 4
  if address:find(":", 1, true) then
    family, size = AF_INET6, 16
  end
  local bytes = ffi.new("unsigned char[16]")
  if ffi.C.inet_pton(family, address, bytes) ~= 1 then
    return nil
  end
  return ffi.string(bytes, size)
end

-- Returns the first bits of an address, as whole bytes whose other bits are 0.
local function prefix(address, bits)
  local whole, rest = floor(bits / 8), bits % 8
  if rest == 0 then
    return address:sub(1, whole)
  end
  local last = bit.band(address:byte(whole + 1), bit.lshift(0xff, 8 - rest))
  return address:sub(1, whole) .. string.char(bit.band(last, 0xff))
end

-- Returns the family (4 or 6), the prefix and its number of bits of an address or network.
local function parse(network)
  if type(network) ~= "string" then
    return nil
  end
  local address, bits = network:match("^(.-)/(%d+)$")
  local bytes = binary(address or network)
  if not bytes then
    return nil
  end
  bits = tonumber(bits) or #bytes * 8
  if bits > #bytes * 8 then
    return nil
  end
  return #bytes, prefix(bytes, bits), bits
end

local function add(self, network, value)
  local size, key, bits = parse(network)
  if not size then
    return false
  end
  local networks = self[size]
  if not networks[bits] then
    networks[bits] = {}
    table.insert(networks.lengths, bits)
    table.sort(networks.lengths, function(a, b) return a > b end)
  end
  networks[bits][key] = value
  return true
end

local function empty()
  return setmetatable({ [4] = { lengths = {} }, [16] = { lengths = {} } }, mt)
end

-- networks is a list of addresses and networks.
function _M.new(networks)
  local self = empty()
  for _, network in ipairs(networks) do
    if not add(self, network, true) then
      return nil, "invalid ip address: " .. tostring(network)
    end
  end
  return self
end

-- networks maps addresses and networks to the values that match returns.
function _M.new_with_value(networks)
  local self = empty()
  for network, value in pairs(networks) do
    if not add(self, network, value) then
      return nil, "invalid ip address: " .. tostring(network)
    end
  end
  return self
end

-- Matches an address that has the form of $binary_remote_addr.
function _M.match_bin(self, address)
  local networks = self[#address]
  if not networks then
    return false, "invalid ip address, not ipv4 or ipv6 format"
  end
  for _, bits in ipairs(networks.lengths) do
    local value = networks[bits][prefix(address, bits)]
    if value ~= nil then
      return value
    end
  end
  return false
end

function _M.match(self, address)
  local bytes = binary(address)
  if not bytes then
    return false, "invalid ip address, not ipv4 or ipv6 format"
  end
  return self:match_bin(bytes)
end

local function numbers(bytes)
  local all = {}
  for at = 1, #bytes, 4 do
    local a, b, c, d = bytes:byte(at, at + 3)
    all[#all + 1] = ((a * 256 + b) * 256 + c) * 256 + d
  end
  return all
end

-- Returns an IPv4 address as a number, or false.
function _M.parse_ipv4(address)
  local bytes = binary(address)
  return bytes and #bytes == 4 and numbers(bytes)[1] or false
end

-- Returns an IPv6 address as four numbers, or false.
function _M.parse_ipv6(address)
  local bytes = binary(address)
  return bytes and #bytes == 16 and numbers(bytes) or false
end

return _M
