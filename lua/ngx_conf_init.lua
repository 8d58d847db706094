-- init_by_lua: runs in the master before the workers are forked, once per
-- (re)load. Reads cfg.json and loads every module, so that workers share them.

-- The folder of this script, so that several installations can live on one machine.
local folder = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."

-- Stand-ins for libraries that not every nginx has. Last on the path: a real one wins.
package.path = package.path .. ";" .. folder .. "/fallback/?.lua"

local cjson = require("cjson.safe")

local function read_config(path)
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

local config = read_config(folder .. "/cfg.json")

ngx.shared.luaconfig:set("enablemetrics", config.enable_metrics)
ngx.shared.luaconfig:set("use_forwarded_headers", config.use_forwarded_headers)

lua_ingress = require("lua_ingress")
lua_ingress.set_config(config)

configuration = require("configuration")
-- Before balancer is loaded: it makes its pattern of forbidden peers from the port then.
configuration.prohibited_localhost_port = config.listen_ports.status_port

balancer = require("balancer")
