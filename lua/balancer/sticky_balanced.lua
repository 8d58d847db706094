-- Session affinity that keeps the load even: the cookie contains a key that is hashed onto the
-- endpoints, so some sessions move to endpoints that are added.

local resty_chash = require("resty.chash")
local sticky = require("balancer.sticky")
local util = require("util")

local math = math
local string = string
local ngx = ngx

-- Maximum number of keys to try to find an endpoint that has not failed.
local MAX_TRIES = 20

local _M = sticky:new({ name = "sticky_balanced" })

function _M.new(self, backend)
  local o = sticky.fields(backend)
  o.nodes = util.get_nodes(backend.endpoints)
  o.instance = resty_chash:new(o.nodes)
  return sticky.new(self, o)
end

-- Returns a new key. Time and PID make it unique; the random number makes it hard to guess.
local function new_key(salt)
  return string.format("%s.%s.%s", ngx.now() + salt, ngx.worker.pid(), math.random(999999))
end

function _M.pick_new_upstream(self, failed)
  for i = 1, MAX_TRIES do
    local key = new_key(i)
    local endpoint = self.instance:find(key)
    if endpoint and not failed[endpoint] then
      return endpoint, key
    end
  end
  return nil, nil
end

return _M
