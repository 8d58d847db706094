-- The peer of an external authentication whose connections are kept open.
-- nginx itself looks the names in an upstream block up once, when it reads its
-- configuration, and refuses all of it when one is unknown; here they are
-- looked up when they are needed, and follow DNS.

local math_random = math.random

local dns = require("util.dns")
local doors = require("doors")
local util = require("util")
local set_current_peer = require("ngx.balancer").set_current_peer

local ngx = ngx

local BAD_GATEWAY = 502

local _M = {}

-- Only in phases that may yield. Returns the name itself if it does not resolve; nil if
-- it resolves to one of the controller's own ports.
function _M.resolve(host, port)
  local addresses = dns.lookup(host)
  local peer = { address = addresses[math_random(#addresses)], port = port }
  if doors.is_closed(peer.address, port) then
    ngx.log(ngx.ERR, "attempted to proxy to self, external authentication at ", host, ":", port,
      ", peer: ", peer.address, ":", port)
    return nil
  end
  util.bracket_ipv6({ peer })
  return peer.address .. ":" .. peer.port
end

-- The context comes from whoever asks; a cached answer needs no peer.
function _M.balance()
  local peer = ngx.ctx.auth_peer
  local ok, err
  if peer then
    ok, err = set_current_peer(peer)
  else
    err = "nobody has looked it up"
  end
  if not ok then
    ngx.log(ngx.ERR, "no peer for external authentication, ", peer or "-", ": ", err)
    return ngx.exit(BAD_GATEWAY)
  end
end

return _M
