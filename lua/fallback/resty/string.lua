-- Conversions of strings, with the interface of lua-resty-string's resty.string, for nginx packages
-- without that library.

local string = string
local tonumber = tonumber

local _M = {}

-- Returns the bytes of a string as lower-case hexadecimal digits.
function _M.to_hex(text)
  return (text:gsub(".", function(char)
    return string.format("%02x", char:byte())
  end))
end

-- Returns the number at the beginning of a string, like C's atoi; 0 if there is none.
function _M.atoi(text)
  return tonumber(text:match("^%s*([+-]?%d+)")) or 0
end

return _M
