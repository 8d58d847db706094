-- Which endpoint answers a request. Each worker keeps one instance of an
-- algorithm per backend and follows the backends in shared memory by polling.

local cjson = require("cjson.safe")
local ngx_balancer = require("ngx.balancer")
local configuration = require("configuration")

local ngx = ngx
local ipairs = ipairs
local pairs = pairs
local pcall = pcall
local getmetatable = getmetatable
local tostring = tostring
local type = type
local re_find = ngx.re.find
local set_more_tries = ngx_balancer.set_more_tries
local set_current_peer = ngx_balancer.set_current_peer

-- Seconds between two looks for new backends: how stale a worker may be.
local BACKENDS_SYNC_INTERVAL = 1
local DEFAULT_ALGORITHM = "round_robin"

-- A new algorithm is a file in balancer/ and a line here.
local IMPLEMENTATIONS = {
  round_robin = require("balancer.round_robin"),
}

-- nginx's NGX_BUSY: it answers 502, without a connection to the placeholder of
-- upstream_balancer, whose address need not be unreachable everywhere.
local NO_LIVE_PEER = -3

-- Who controls an endpoint must not reach the configuration API through it.
local PROHIBITED_PEER = "^127.*:" .. (configuration.prohibited_localhost_port or "") .. "$"

local _M = {}

local balancers = {} -- by backend name
local warned = {} -- algorithms that this worker has complained about
local last_stamp, last_version = 0, nil

local function algorithm(backend)
  local affinity = backend.sessionAffinityConfig
  if affinity and affinity.name == "cookie" then
    return affinity.mode == "persistent" and "sticky_persistent" or "sticky_balanced"
  end

  local hash = backend.upstreamHashByConfig
  if hash and hash["upstream-hash-by"] then
    return hash["upstream-hash-by-subset"] and "chashsubset" or "chash"
  end

  return backend["load-balance"] or DEFAULT_ALGORITHM
end

local function get_implementation(backend)
  local name = algorithm(backend)
  local implementation = IMPLEMENTATIONS[name]
  if implementation then
    return implementation
  end

  if not warned[name] then
    warned[name] = true
    ngx.log(ngx.WARN, "backend ", backend.name, ": no load balancing algorithm ", name,
      ", using ", DEFAULT_ALGORITHM)
  end
  return IMPLEMENTATIONS[DEFAULT_ALGORITHM]
end

-- nginx takes a peer as "address:port": IPv6 needs its brackets.
local function bracket_ipv6(endpoints)
  for _, endpoint in ipairs(endpoints) do
    if endpoint.address:find(":", 1, true) and endpoint.address:sub(1, 1) ~= "[" then
      endpoint.address = "[" .. endpoint.address .. "]"
    end
  end
end

local function is_external_name(backend)
  local service = backend.service
  return service and service.spec and service.spec.type == "ExternalName"
end

-- No instance means 503, see rewrite.
local function sync_backend(backend)
  local endpoints = backend.endpoints
  if not endpoints or #endpoints == 0 then
    balancers[backend.name] = nil
    return
  end

  if is_external_name(backend) then
    -- Its endpoints are host names, and nothing here resolves them.
    ngx.log(ngx.ERR, "backend ", backend.name, ": ExternalName services are not supported")
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
    ngx.log(ngx.INFO, "LB algorithm changed from ", tostring(instance.name), " to ",
      tostring(implementation.name), ", resetting the instance")
  end
  balancers[backend.name] = implementation:new(backend)
end

local function sync_all(backends)
  local present = {}
  for _, backend in ipairs(backends) do
    -- One backend that this code cannot take must not keep the others stale.
    local ok, err = pcall(sync_backend, backend)
    local name = type(backend) == "table" and backend.name or "(no name)"
    present[name] = true
    if not ok then
      ngx.log(ngx.ERR, "backend ", tostring(name), " could not be synced: ", err)
    end
  end

  for name in pairs(balancers) do
    if not present[name] then
      balancers[name] = nil
    end
  end
end

local function sync_backends()
  -- Before the data, so that data stored in between is looked at again.
  local version = configuration.get_raw_backends_version()
  local stamp = configuration.get_raw_backends_last_synced_at()
  if version == last_version and stamp <= last_stamp then
    return
  end

  local data = configuration.get_backends_data()
  if not data then
    balancers = {}
    return
  end

  local backends, err = cjson.decode(data)
  if type(backends) ~= "table" then
    -- Not marked as seen: it is tried, and complained about, at every poll.
    ngx.log(ngx.ERR, "could not parse backends data: ", err or "not a list")
    return
  end

  sync_all(backends)
  last_stamp, last_version = stamp, version
end

function _M.init_worker()
  -- At once: a worker born of a reload serves what its predecessor served.
  sync_backends()

  local ok, err = ngx.timer.every(BACKENDS_SYNC_INTERVAL, sync_backends)
  if not ok then
    ngx.log(ngx.ERR, "error when setting up timer.every for sync_backends: ", err)
  end
end

-- The same instance in all phases and attempts of a request.
local function get_balancer()
  local ctx = ngx.ctx
  local instance = ctx.balancer
  if not instance then
    instance = balancers[ngx.var.proxy_upstream_name]
    ctx.balancer = instance
  end
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
  if re_find(peer, PROHIBITED_PEER, "jo") then
    ngx.log(ngx.ERR, "attempted to proxy to self, balancer: ", instance.name, ", peer: ", peer)
    return ngx.exit(NO_LIVE_PEER)
  end

  -- Room for one more attempt, each time; proxy_next_upstream_tries sets the limit.
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

function _M.get_balancer_by_upstream_name(name)
  return balancers[name]
end

-- For specs and for plugins that look inside; the running code does not need them.
setmetatable(_M, { __index = {
  get_implementation = get_implementation,
  sync_backend = sync_backend,
  get_balancer = get_balancer,
} })

return _M
