-- Measures balance() and the sync of backends inside nginx. balance() runs in the balancer phase,
-- thousands of times in one request: see bench_test.go.

local cjson = require("cjson.safe")
local deltas = require("deltas")
local ffi = require("ffi")

local _M = {}

ffi.cdef([[
typedef struct { long sec; long nsec; } windtunnel_timespec;
int clock_gettime(int clock, windtunnel_timespec *ts);
]])
local CPU_TIME = 2 -- CLOCK_PROCESS_CPUTIME_ID: excludes the time of other processes
local ts = ffi.new("windtunnel_timespec")

local function seconds()
  ffi.C.clock_gettime(CPU_TIME, ts)
  return tonumber(ts.sec) + tonumber(ts.nsec) * 1e-9
end

local BALANCE_ROUNDS, CALLS, ROUNDS = 25, 10000, 7

local function loop(instance, calls)
  local after = instance.release -- without it, each call would count as a retry of one request
  for _ = 1, calls do
    balancer.balance()
    if after then
      after(instance)
    end
  end
end

-- Runs in the balancer phase. Reports the best of several rounds: slower rounds reflect the
-- machine's load.
function _M.balance()
  local instance = ngx.ctx.balancer
  loop(instance, CALLS) -- warm up, until LuaJIT has compiled the loop
  local best, bytes = math.huge, math.huge
  for _ = 1, BALANCE_ROUNDS do
    collectgarbage()
    collectgarbage("stop")
    local before, from = collectgarbage("count"), seconds()
    loop(instance, CALLS)
    best = math.min(best, (seconds() - from) / CALLS)
    bytes = math.min(bytes, (collectgarbage("count") - before) * 1024 / CALLS)
    collectgarbage("restart")
  end
  ngx.shared.luaconfig:set("bench", ("%8.0f ns  %6.1f B"):format(best * 1e9, bytes))
end

local function backends(n, generation)
  local list = {}
  for i = 1, n do
    local endpoints = {}
    for j = 1, 10 do
      endpoints[j] = { address = ("10.%d.%d.%d"):format(i / 250, i % 250, j), port = "8080" }
    end
    list[i] = {
      name = ("namespace-%d-service-%d-80"):format(i % 50, i), port = 80, endpoints = endpoints,
      service = { metadata = {}, status = {}, spec = {
        ports = { { protocol = "TCP", port = 80, targetPort = 8080 } },
        selector = { app = "app-" .. i }, clusterIP = "10.96.0.1", type = "ClusterIP",
      } },
      sslPassthrough = false, noServer = false, ["load-balance"] = "round_robin",
      sessionAffinityConfig = { name = "", mode = "", cookieSessionAffinity = { name = "" } },
      upstreamHashByConfig = { ["upstream-hash-by-subset-size"] = 3 },
      trafficShapingPolicy = {
        weight = 0, weightTotal = 0, header = "", headerValue = "", headerPattern = "", cookie = "",
      },
    }
  end
  if generation then
    list[n].endpoints[1].address = "10.250.0." .. generation
  end
  return cjson.encode(list)
end

local function time(f)
  local best = math.huge
  for _ = 1, ROUNDS do
    collectgarbage()
    local from = seconds()
    f()
    best = math.min(best, seconds() - from)
  end
  return best * 1000
end

-- init_worker syncs immediately. The timers that it would start are disabled here.
local function take_over()
  local timer = ngx.timer
  ngx.timer = { every = function() return true end, at = function() return true end }
  balancer.init_worker()
  ngx.timer = timer
end

local function sync(data)
  ngx.shared.configuration_data:set("backends", data)
  ngx.shared.configuration_data:incr("raw_backends_version", 1, 0)
  take_over()
end

-- Measures the same change as the last one of all backends, sent as a delta.
local function time_delta(data, changed)
  local version = "raw_backends_version"
  local all = cjson.decode(changed)
  local text = cjson.encode({ changed = { all[#all] }, removed = {} })
  sync(data)
  configuration.accepts_deltas = true
  deltas.follow(ngx.shared.configuration_data:get(version))
  local took = time(function()
    assert(deltas.add(text, ngx.shared.configuration_data:get(version)))
    ngx.shared.configuration_data:incr(version, 1)
    take_over()
  end)
  deltas.forget(deltas.suspend())
  configuration.accepts_deltas = nil
  return took
end

function _M.sync()
  for _, n in ipairs({ 100, 1000, 5000 }) do
    local data, generation = backends(n), 0
    local changed = {}
    for i = 1, ROUNDS do
      changed[i] = backends(n, i)
    end
    local parse = time(function() cjson.decode(data) end)
    local all = time(function() sync("[]") sync(data) end)
    local same = time(function() sync(data) end)
    local one = time(function() generation = generation + 1 sync(changed[generation]) end)
    local delta = time_delta(data, changed[1])
    ngx.say(("%8d  %8.1f kB  %9.2f ms  %9.2f ms  %9.2f ms  %9.2f ms  %9.2f ms"):format(
      n, #data / 1024, parse, all, same, one, delta))
  end
end

return _M
