-- The DNS settings of /etc/resolv.conf, read once, when this module is loaded.

local io = io
local error = error
local gmatch = string.gmatch
local tonumber = tonumber

local PATH = "/etc/resolv.conf"

local _M = { nameservers = {}, search = {}, ndots = 1 }

local readers = {
  nameserver = function(words)
    local address = words()
    if address then
      if address:find(":", 1, true) then
        address = "[" .. address .. "]"
      end
      _M.nameservers[#_M.nameservers + 1] = address
    end
  end,

  -- The last search line takes effect.
  search = function(words)
    _M.search = {}
    for domain in words do
      _M.search[#_M.search + 1] = domain
    end
  end,

  options = function(words)
    for option in words do
      _M.ndots = tonumber(option:match("^ndots:(%d+)$")) or _M.ndots
    end
  end,
}

local function parse(text)
  for line in gmatch(text, "[^\r\n]+") do
    local words = gmatch(line:gsub("[#;].*$", ""), "%S+")
    local read = readers[words() or ""]
    if read then
      read(words)
    end
  end
end

local file, err = io.open(PATH, "r")
if not file then
  error("could not open " .. PATH .. ": " .. err)
end
local text = file:read("*a")
file:close()
parse(text or "")

return _M
