-- Chooses the endpoint of a request. Each worker keeps one instance of an algorithm per backend,
-- and polls shared memory for new backends.

local cjson = require("cjson.safe")
local ngx_balancer = require("ngx.balancer")
local announcements = require("announcements")
local canary = require("canary")
local configuration = require("configuration")
local protected_ports = require("protected_ports")
local external_name = require("util.external_name")
local util = require("util")

local ngx = ngx
local ipairs = ipairs
local pairs = pairs
local pcall = pcall
local string = string
local getmetatable = getmetatable
local tostring = tostring
local type = type
local setmetatable = setmetatable
local is_blank = util.is_blank
local bracket_ipv6 = util.bracket_ipv6
local set_more_tries = ngx_balancer.set_more_tries
local set_current_peer = ngx_balancer.set_current_peer

-- Seconds between two polls for new backends, the maximum age of a worker's backends.
local BACKENDS_SYNC_INTERVAL = 1
local DEFAULT_ALGORITHM = "round_robin"

-- To add an algorithm, add a file in balancer/ and a line here.
local IMPLEMENTATIONS = {
  round_robin = require("balancer.round_robin"),
  chash = require("balancer.chash"),
  chashsubset = require("balancer.chashsubset"),
  ewma = require("balancer.ewma"),
  sticky_balanced = require("balancer.sticky_balanced"),
  sticky_persistent = require("balancer.sticky_persistent"),
}

-- nginx's NGX_BUSY: it answers 502 and does not connect to the placeholder address of
-- upstream_balancer, which may be reachable in some networks.
local NO_LIVE_PEER = -3

protected_ports.add({ configuration.prohibited_localhost_port })

local _M = {}

local balancers = {} -- by backend name
local warned = {} -- algorithms that this worker has logged a warning about
local last_stamp, last_version = 0, nil

-- Algorithms that load-balance alone cannot select, because they need a hash key or a cookie.
local NEEDS = {
  chash = "upstream-hash-by",
  chashsubset = "upstream-hash-by",
  sticky_balanced = "a session cookie",
  sticky_persistent = "a session cookie",
}

-- Logs once per worker why an algorithm is not used.
local function warn_once(backend, name, reason)
  if not warned[name] then
    warned[name] = true
    ngx.log(ngx.WARN, "backend ", backend.name, ": ", reason, ", using ", DEFAULT_ALGORITHM)
  end
end

local function algorithm(backend)
  local affinity = backend.sessionAffinityConfig
  if affinity and affinity.name == "cookie" then
    return affinity.mode == "persistent" and "sticky_persistent" or "sticky_balanced"
  end

  local hash = backend.upstreamHashByConfig
  if hash and not is_blank(hash["upstream-hash-by"]) then
    return hash["upstream-hash-by-subset"] and "chashsubset" or "chash"
  end

  local name = backend["load-balance"]
  if is_blank(name) then
    return DEFAULT_ALGORITHM
  end
  if not IMPLEMENTATIONS[name] then
    warn_once(backend, name, "no load balancing algorithm " .. name)
    return DEFAULT_ALGORITHM
  end
  if NEEDS[name] then
    warn_once(backend, name, "load balancing algorithm " .. name .. " needs " .. NEEDS[name])
    return DEFAULT_ALGORITHM
  end
  return name
end

local function get_implementation(backend)
  return IMPLEMENTATIONS[algorithm(backend)]
end

-- A backend without endpoints has no instance. Its requests get 503; see rewrite.
local function apply_backend(backend)
  if backend.endpoints then
    protected_ports.remove_from(backend)
  end
  local endpoints = backend.endpoints
  if not endpoints or #endpoints == 0 then
    balancers[backend.name] = nil
    return
  end
  bracket_ipv6(endpoints)

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

local function sync_backend(backend)
  if external_name.is(backend) then
    backend = external_name.resolve(backend)
  end
  apply_backend(backend)
end

-- Calls a function for a backend. Logs its error instead of raising it, so one bad backend does
-- not block the others.
local function try(what, backend, ...)
  local ok, err = pcall(what, backend, ...)
  if not ok then
    local name = type(backend) == "table" and backend.name
    ngx.log(ngx.ERR, "backend ", tostring(name), " could not be synced: ", err)
  end
end

local external = external_name.new_set(function(backend) try(apply_backend, backend) end)

local function sync_external_backends()
  external:poll()
end

-- Applies a backend, or registers it as external. Returns its name, if it has one.
local function take(backend)
  local name = type(backend) == "table" and backend.name
  if name and external_name.is(backend) then
    external.backends[name] = backend
    return name
  end
  if name then
    external.backends[name] = nil
  end
  try(apply_backend, backend)
  return name
end

local function sync_all(backends)
  local present = {}
  external.backends = {}
  for _, backend in ipairs(backends) do
    present[take(backend) or "(no name)"] = true
  end

  for name in pairs(balancers) do
    if not present[name] then
      balancers[name] = nil
    end
  end
end

local function sync_changes(delta)
  for _, name in ipairs(delta.removed) do
    balancers[name], external.backends[name] = nil, nil
  end
  for _, backend in ipairs(delta.changed) do
    take(backend)
  end
end

local function sync_backends()
  -- Read the version before the data: data stored in between is then read again.
  local version = configuration.get_raw_backends_version
    and configuration.get_raw_backends_version() -- other configuration modules may lack it
  local stamp = configuration.get_raw_backends_last_synced_at()
  if version == last_version and stamp <= last_stamp then
    return
  end

  local deltas = last_version and configuration.get_backends_deltas
    and configuration.get_backends_deltas(last_version, version)
  if deltas then
    for _, delta in ipairs(deltas) do
      sync_changes(delta)
    end
    last_stamp, last_version = stamp, version
    return
  end

  local data = configuration.get_backends_data()
  if not data then
    balancers, external.backends = {}, {}
    return
  end

  local backends, err = cjson.decode(data)
  if type(backends) ~= "table" then
    -- last_version stays, so every poll retries and logs the error again.
    ngx.log(ngx.ERR, "could not parse backends data: ", err or "not a list")
    return
  end

  sync_all(backends)
  last_stamp, last_version = stamp, version
end

local function run(schedule, seconds, what)
  local ok, err = schedule(seconds, function(premature)
    if not premature then
      what()
    end
  end)
  if not ok then
    ngx.log(ngx.ERR, "failed to create timer: ", err)
  end
end

-- Optional fields of options: announcements, the socket on which the controller announces new
-- backends, which are then applied before the next poll; on_sync, a function that is called at
-- least at every poll with the version of the backends that this worker serves.
function _M.init_worker(options)
  local on_sync = options and options.on_sync
  local function poll()
    sync_backends()
    if on_sync then
      on_sync(last_version)
    end
  end

  -- Sync now, so after a reload a worker serves the same backends as its predecessor. External
  -- names wait, because this phase has no sockets.
  poll()
  run(ngx.timer.at, 0, sync_external_backends)
  run(ngx.timer.every, BACKENDS_SYNC_INTERVAL, poll)
  run(ngx.timer.every, BACKENDS_SYNC_INTERVAL, sync_external_backends)
  if options and options.announcements then
    announcements.follow(options.announcements, poll)
  end
end

-- Reports whether this request goes to the balancer's canary. Session affinity takes precedence: a
-- client must not switch between backend and canary within a session.
local function route_to_alternative_balancer(instance)
  local names = instance.alternative_backends
  if not names or not names[1] then
    return false
  end
  if instance:is_affinitized() then
    return false
  end

  local alternative = balancers[names[1]]
  if not alternative then
    ngx.log(ngx.ERR, "no alternative balancer for backend: ", tostring(names[1]))
    return false
  end
  local policy = alternative.traffic_shaping_policy
  if not policy then
    ngx.log(ngx.ERR, "traffic shaping policy is not set for balancer of backend: ",
      tostring(names[1]))
    return false
  end
  if alternative:is_affinitized() then
    return true
  end

  local choice, err = canary.chosen(policy, ngx.var)
  if err then
    ngx.log(ngx.ERR, err)
  end
  return choice
end

-- Returns the instance of this request, the same in all phases and attempts.
local function get_balancer()
  local ctx = ngx.ctx
  local instance = ctx.balancer
  if instance then
    return instance
  end

  instance = balancers[ngx.var.proxy_upstream_name]
  if not instance then
    return nil
  end
  if route_to_alternative_balancer(instance) then
    local name = instance.alternative_backends[1]
    ngx.var.proxy_alternative_upstream_name = name
    instance = balancers[name]
  end
  ctx.balancer = instance
  return instance
end

function _M.rewrite()
  if not get_balancer() then
    return ngx.exit(ngx.HTTP_SERVICE_UNAVAILABLE)
  end
end

function _M.balance()
  local instance = get_balancer()
  if not instance then
    return ngx.exit(NO_LIVE_PEER)
  end

  local peer = instance:balance()
  if not peer then
    ngx.log(ngx.WARN, "no peer was returned, balancer: ", instance.name)
    return ngx.exit(NO_LIVE_PEER)
  end

  -- Allow one more attempt per call, until proxy_next_upstream_tries limits them. Do not call again
  -- after that: nginx would get a negative number, because it does not count attempts on kept
  -- connections. Tries below 0 would never end.
  local ctx = ngx.ctx
  if not ctx.tries_limited then
    local _, limited = set_more_tries(1)
    if limited then
      ctx.tries_limited = true
    end
  end

  local ok, err = set_current_peer(peer)
  if not ok then
    ngx.log(ngx.ERR, "error while setting current upstream peer ", peer, ": ", err)
    return ngx.exit(NO_LIVE_PEER)
  end
end

function _M.log()
  local instance = get_balancer()
  if instance and instance.after_balance then
    instance:after_balance()
  end
end

function _M.get_balancer_by_upstream_name(name)
  return balancers[name]
end

-- Used only by specs and plugins.
setmetatable(_M, { __index = {
  get_implementation = get_implementation,
  sync_backend = sync_backend,
  get_balancer = get_balancer,
  route_to_alternative_balancer = route_to_alternative_balancer,
} })

return _M
