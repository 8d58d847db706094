-- Chooses the faster of two random endpoints. The score of an endpoint is a moving average of its
-- response times, weighted toward the last ten seconds. All workers share the scores in two
-- dictionaries.

local resty_lock = require("resty.lock")
local util = require("util")
local split = require("util.split")
local clear_table = require("table.clear")
local is_blank = util.is_blank

local ngx = ngx
local math = math
local exp = math.exp
local max = math.max
local ipairs = ipairs
local pairs = pairs
local tonumber = tonumber
local setmetatable = setmetatable

-- Seconds after which the weight of a stored average falls to 1/e.
local DECAY_TIME = 10

-- The key of the lock is the endpoint followed by this suffix. With timeout 0, a worker that finds
-- the score locked skips its sample instead of waiting.
local LOCK_KEY = ":ewma_key"
local lock, lock_err = resty_lock:new("balancer_ewma_locks", { timeout = 0, exptime = 0.1 })
if not lock then
  error("dictionary balancer_ewma_locks: " .. lock_err)
end

local scores = ngx.shared.balancer_ewma
local touched = ngx.shared.balancer_ewma_last_touched_at

local _M = { name = "ewma" }

-- A pool of sets of tried endpoints, to avoid allocations.
local spare, spares = {}, 0
local MAX_SPARES = 1000

local function decayed(ewma, last_touched, rtt, now)
  -- The difference can be negative: another worker's cached time may be ahead, or the clock was set
  -- back.
  local weight = exp(-max(now - last_touched, 0) / DECAY_TIME)
  return ewma * weight + rtt * (1 - weight)
end

-- Returns the score as if a response of 0 seconds arrived now, so that endpoints without recent
-- requests are tried again. An endpoint without any requests has the best score.
local function score(endpoint)
  return decayed(scores:get(endpoint) or 0, touched:get(endpoint) or 0, 0, ngx.now())
end

local function store(endpoint, ewma, now)
  local ok, err, forcible = touched:set(endpoint, now)
  if not ok then
    ngx.log(ngx.WARN, "balancer_ewma_last_touched_at:set failed ", err)
  elseif forcible then
    ngx.log(ngx.WARN, "balancer_ewma_last_touched_at:set valid items forcibly overwritten")
  end

  ok, err, forcible = scores:set(endpoint, ewma)
  if not ok then
    ngx.log(ngx.WARN, "balancer_ewma:set failed ", err)
  elseif forcible then
    ngx.log(ngx.WARN, "balancer_ewma:set valid items forcibly overwritten")
  end
end

local function learn(endpoint, rtt)
  local _, err = lock:lock(endpoint .. LOCK_KEY)
  if err then
    if err ~= "timeout" then
      ngx.log(ngx.ERR, "locking the score of ", endpoint, ": ", err)
    end
    return
  end

  local now = ngx.now()
  store(endpoint, decayed(scores:get(endpoint) or 0, touched:get(endpoint) or 0, rtt, now), now)

  local ok
  ok, err = lock:unlock()
  if not ok then
    ngx.log(ngx.ERR, "unlocking the score of ", endpoint, ": ", err)
  end
end

-- Returns the peers as "address:port". Builds the list only when the peers have changed.
local function addresses(self)
  local peers = self.peers
  if self.addressed ~= peers then
    local list = {}
    for i, peer in ipairs(peers) do
      list[i] = peer.address .. ":" .. peer.port
    end
    self.addressed, self.addresses = peers, list
  end
  return self.addresses
end

-- Returns the better of two random endpoints and its score. In a list of two, compares both.
local function better_of_two(list, count)
  local i = math.random(count)
  if count == 1 then
    return list[i], score(list[i])
  end
  local j = math.random(count - 1)
  if j >= i then
    j = j + 1
  end

  local a, b = score(list[i]), score(list[j])
  if b < a then
    return list[j], b
  end
  return list[i], a
end

-- Returns the endpoints that were not tried yet, and their number. Only retries need this list.
local function untried(list, tried)
  local left, count = {}, 0
  for i = 1, #list do
    if not tried[list[i]] then
      count = count + 1
      left[count] = list[i]
    end
  end
  return left, count
end

local function tried_endpoints(ctx)
  local tried = ctx.balancer_ewma_tried_endpoints
  if tried then
    return tried, false
  end
  if spares > 0 then
    tried, spare[spares] = spare[spares], nil
    spares = spares - 1
  else
    tried = {}
  end
  ctx.balancer_ewma_tried_endpoints = tried
  return tried, true
end

function _M.balance(self)
  local list = addresses(self)
  local count = #list
  local endpoint, its_score = list[1], -1

  if count > 1 then
    local tried, first = tried_endpoints(ngx.ctx)
    if not first then
      local left, some = untried(list, tried)
      if some > 0 then
        list, count = left, some
      else
        ngx.log(ngx.WARN, "all endpoints have been retried")
      end
    end
    endpoint, its_score = better_of_two(list, count)
    tried[endpoint] = true
  end

  ngx.var.balancer_ewma_score = its_score -- the only string allocation here
  return endpoint
end

-- Returns the request's set of tried endpoints to the pool.
function _M.release()
  local ctx = ngx.ctx
  local tried = ctx.balancer_ewma_tried_endpoints
  if tried and spares < MAX_SPARES then
    ctx.balancer_ewma_tried_endpoints = nil
    clear_table(tried)
    spares = spares + 1
    spare[spares] = tried
  end
end

-- Runs in the log phase. The last endpoint in the variables is the one that answered.
function _M.after_balance()
  _M.release()
  local var = ngx.var
  local connect = tonumber(split.get_last_value(var.upstream_connect_time)) or 0
  local response = tonumber(split.get_last_value(var.upstream_response_time)) or 0
  local endpoint = split.get_last_value(var.upstream_addr)
  if not is_blank(endpoint) then
    learn(endpoint, connect + response)
  end
end

-- Returns the average score, the initial score of a new endpoint. With the best score, it would get
-- every request until its first response.
local function average(peers)
  local sum, count = 0, 0
  for _, peer in ipairs(peers) do
    local ewma = scores:get(peer.address .. ":" .. peer.port)
    if ewma then
      sum, count = sum + ewma, count + 1
    end
  end
  return count > 0 and sum / count or nil
end

function _M.sync(self, backend)
  self.traffic_shaping_policy = backend.trafficShapingPolicy
  self.alternative_backends = backend.alternativeBackends

  local added, removed = util.diff_endpoints(self.peers, backend.endpoints)
  if #added == 0 and #removed == 0 then
    return
  end
  self.peers = backend.endpoints

  for _, endpoint in pairs(removed) do
    scores:delete(endpoint)
    touched:delete(endpoint)
  end

  local ewma = average(backend.endpoints)
  if ewma then
    local now = ngx.now()
    for _, endpoint in pairs(added) do
      store(endpoint, ewma, now)
    end
  end
end

function _M.is_affinitized()
  return false
end

function _M.new(self, backend)
  self.__index = self
  return setmetatable({
    peers = backend.endpoints,
    traffic_shaping_policy = backend.trafficShapingPolicy,
    alternative_backends = backend.alternativeBackends,
  }, self)
end

return _M
