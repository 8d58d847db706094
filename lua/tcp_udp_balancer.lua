-- Chooses the endpoint of a TCP connection or UDP session, in nginx's stream subsystem. It works
-- like balancer, with one algorithm.

local cjson = require("cjson.safe")
local ngx_balancer = require("ngx.balancer")
local announcements = require("announcements")
local configuration = require("tcp_udp_configuration")
local protected_ports = require("protected_ports")
local round_robin = require("balancer.round_robin")
local external_name = require("util.external_name")
local util = require("util")

local ngx = ngx
local getmetatable = getmetatable
local ipairs = ipairs
local pairs = pairs
local pcall = pcall
local setmetatable = setmetatable
local string = string
local tostring = tostring
local type = type
local set_more_tries = ngx_balancer.set_more_tries
local set_current_peer = ngx_balancer.set_current_peer

-- Seconds between two polls for new backends.
local BACKENDS_SYNC_INTERVAL = 1
local DEFAULT_ALGORITHM = "round_robin"

local IMPLEMENTATIONS = {
  round_robin = round_robin,
}

protected_ports.add({ configuration.prohibited_localhost_port })

-- Optional field: announcements, the socket on which the controller announces new backends.
local _M = {}

local balancers = {} -- by backend name
local last_stamp, last_version = 0, nil

local function get_implementation(backend)
  local name = backend["load-balance"] or DEFAULT_ALGORITHM
  local implementation = IMPLEMENTATIONS[name]
  if not implementation then
    ngx.log(ngx.WARN, string.format("%s is not supported, falling back to %s", tostring(name),
      DEFAULT_ALGORITHM))
    implementation = IMPLEMENTATIONS[DEFAULT_ALGORITHM]
  end
  return implementation
end

-- Applies a backend. If it has no endpoints, the old ones stay, because a connection cannot be
-- answered with an error such as 503.
local function sync_backend(backend)
  if backend.endpoints then
    protected_ports.remove_from(backend)
  end
  local endpoints = backend.endpoints
  if not endpoints or #endpoints == 0 then
    return
  end
  util.bracket_ipv6(endpoints)

  local implementation = get_implementation(backend)
  local instance = balancers[backend.name]
  if instance and getmetatable(instance) == implementation then
    instance:sync(backend)
    return
  end
  if instance then
    ngx.log(ngx.INFO, string.format("LB algorithm changed from %s to %s, resetting the instance",
      tostring(instance.name), tostring(implementation.name)))
  end
  balancers[backend.name] = implementation:new(backend)
end

local function try(what, backend)
  local ok, err = pcall(what, backend)
  if not ok then
    ngx.log(ngx.ERR, "backend ", tostring(type(backend) == "table" and backend.name),
      " could not be synced: ", err)
  end
end

local external = external_name.new_set(function(backend) try(sync_backend, backend) end)

-- Reports whether DNS must resolve a backend. An ExternalName may also be an address.
local function needs_dns(backend)
  local first = backend.endpoints and backend.endpoints[1]
  return external_name.is(backend) and not (first and tostring(first.address):find("^[%d.]+$"))
end

local function sync_all(backends)
  local present = {}
  external.backends = {}
  for _, backend in ipairs(backends) do
    local name = type(backend) == "table" and backend.name
    present[name or "(no name)"] = true
    if name and needs_dns(backend) then
      external.backends[name] = backend
    else
      try(sync_backend, backend)
    end
  end
  for name in pairs(balancers) do
    if not present[name] then
      balancers[name] = nil
    end
  end
end

local function sync_backends()
  local version = configuration.get_raw_backends_version
    and configuration.get_raw_backends_version()
  local stamp = configuration.get_raw_backends_last_synced_at()
  if version == last_version and stamp <= last_stamp then
    return
  end

  local data = configuration.get_backends_data()
  if not data then
    balancers, external.backends = {}, {}
    return
  end
  local backends, err = cjson.decode(data)
  if type(backends) ~= "table" then
    ngx.log(ngx.ERR, "could not parse backends data: ", err or "not a list")
    return
  end
  sync_all(backends)
  last_stamp, last_version = stamp, version
end

local function sync_external_backends(premature)
  if not premature then
    external:poll()
  end
end

function _M.init_worker()
  sync_backends()
  local ok, err = ngx.timer.at(0, sync_external_backends)
  if not ok then
    ngx.log(ngx.ERR, "failed to create timer: ", err)
  end
  for _, sync in ipairs({ sync_backends, sync_external_backends }) do
    ok, err = ngx.timer.every(BACKENDS_SYNC_INTERVAL, sync)
    if not ok then
      ngx.log(ngx.ERR, "error when setting up timer.every for sync_backends: ", err)
    end
  end
  if _M.announcements then
    announcements.follow(_M.announcements, sync_backends)
  end
end

local function get_balancer()
  local ctx = ngx.ctx
  local instance = ctx.balancer
  if not instance then
    instance = balancers[ngx.var.proxy_upstream_name]
    ctx.balancer = instance
  end
  return instance
end

function _M.balance()
  local instance = get_balancer()
  if not instance then
    return
  end
  local peer = instance:balance()
  if not peer then
    ngx.log(ngx.WARN, "no peer was returned, balancer: ", instance.name)
    return
  end

  set_more_tries(1)
  local ok, err = set_current_peer(peer)
  if not ok then
    ngx.log(ngx.ERR, "error while setting current upstream peer ", peer, ": ", err)
  end
end

function _M.log()
  local instance = get_balancer()
  if instance and instance.after_balance then
    instance:after_balance()
  end
end

setmetatable(_M, { __index = {
  get_implementation = get_implementation,
  sync_backend = sync_backend,
} })

return _M
