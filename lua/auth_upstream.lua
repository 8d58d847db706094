-- Chooses the peer for external authentication with keepalive connections. nginx itself resolves
-- the names in an upstream block once, when it reads its configuration, and rejects the whole
-- configuration if one is unknown. This module resolves them for each request, so they follow DNS.

local math_random = math.random

local dns = require("util.dns")
local protected_ports = require("protected_ports")
local util = require("util")
local set_current_peer = require("ngx.balancer").set_current_peer

local ngx = ngx

local BAD_GATEWAY = 502

local _M = {}

-- Resolves a host and returns "address:port". Returns the host itself if it does not resolve, and
-- nil if it resolves to one of the controller's own ports. Needs a phase that may yield.
function _M.resolve(host, port)
  local addresses = dns.lookup(host)
  local peer = { address = addresses[math_random(#addresses)], port = port }
  if protected_ports.includes(peer.address, port) then
    ngx.log(ngx.ERR, "attempted to proxy to self, external authentication at ", host, ":", port,
      ", peer: ", peer.address, ":", port)
    return nil
  end
  util.bracket_ipv6({ peer })
  return peer.address .. ":" .. peer.port
end

-- Sets the peer of the subrequest. Its context comes from ngx_conf_external_auth. A cached answer
-- needs no peer.
function _M.balance()
  local peer = ngx.ctx.auth_peer
  local ok, err
  if peer then
    ok, err = set_current_peer(peer)
  else
    err = "it was not resolved"
  end
  if not ok then
    ngx.log(ngx.ERR, "no peer for external authentication, ", peer or "-", ": ", err)
    return ngx.exit(BAD_GATEWAY)
  end
end

return _M
