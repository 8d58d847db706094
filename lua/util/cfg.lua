-- Reads cfg.json, the configuration that the controller writes for Lua.

local cjson = require("cjson.safe")

local io = io
local debug = debug
local type = type
local error = error

local _M = {}

-- Returns the folder of the calling script, so several installations work on one machine.
function _M.folder()
  return debug.getinfo(2, "S").source:match("^@(.*)/[^/]*$") or "."
end

function _M.read(folder)
  local path = folder .. "/cfg.json"
  local file, open_err = io.open(path, "rb")
  if not file then
    error("reading the Lua configuration: " .. open_err)
  end
  local text = file:read("*a")
  file:close()

  local config, err = cjson.decode(text)
  if type(config) ~= "table" then
    error("reading the Lua configuration " .. path .. ": " .. (err or "not a JSON object"))
  end
  return config
end

return _M
