-- balancer and its algorithms, below what a request shows.

local original_ngx = ngx

local function load(name, fields)
  fields.log = fields.log or function() end
  _G.ngx = setmetatable(fields, { __index = original_ngx })
  for _, module in ipairs({ "balancer", "balancer.resty", "balancer.sticky", "util", "balancer.ewma",
    "balancer.chash", "balancer.chashsubset", "balancer.round_robin", "balancer.sticky_balanced",
    "balancer.sticky_persistent", "util.nodemap" }) do
    package.loaded[module] = nil
  end
  return require(name)
end

after_each(function()
  _G.ngx = original_ngx
end)

local function endpoints(n)
  local list = {}
  for i = 1, n do
    list[i] = { address = "10.10.10." .. i, port = "8080" }
  end
  return list
end

describe("balancer", function()
  it("chooses implementations", function()
    local balancer = load("balancer", { var = {}, ctx = {} })
    for _, case in ipairs({
      { {}, "round_robin" },
      { { ["load-balance"] = "ewma" }, "ewma" },
      { { ["load-balance"] = "what" }, "round_robin" },
      { { upstreamHashByConfig = { ["upstream-hash-by"] = "$x" }, ["load-balance"] = "ewma" }, "chash" },
      { { upstreamHashByConfig = { ["upstream-hash-by"] = "" } }, "round_robin" },
      { { upstreamHashByConfig = { ["upstream-hash-by"] = "$x", ["upstream-hash-by-subset"] = true } }, "chashsubset" },
      { { sessionAffinityConfig = { name = "cookie" } }, "sticky_balanced" },
      { { sessionAffinityConfig = { name = "cookie", mode = "persistent" } }, "sticky_persistent" },
      { { sessionAffinityConfig = { name = "" } }, "round_robin" },
    }) do
      case[1].name = "shop"
      assert.equal(package.loaded["balancer." .. case[2]], balancer.get_implementation(case[1]))
    end
  end)

  it("syncs an instance, or makes another for another algorithm", function()
    local balancer = load("balancer", { var = { proxy_upstream_name = "shop" }, ctx = {} })
    local round_robin = package.loaded["balancer.round_robin"]
    local backend = { name = "shop", endpoints = endpoints(2) }
    spy.on(round_robin, "new")
    balancer.sync_backend(backend)
    assert.spy(round_robin.new).was_called_with(round_robin, backend)
    local instance = balancer.get_balancer()
    assert.equal(round_robin, getmetatable(instance))
    assert.equal(instance, ngx.ctx.balancer)
    stub(instance, "sync")
    balancer.sync_backend(backend)
    assert.stub(instance.sync).was_called_with(instance, backend)

    spy.on(ngx, "log")
    backend["load-balance"] = "ewma"
    balancer.sync_backend(backend)
    assert.spy(ngx.log).was_called_with(ngx.INFO, "LB algorithm changed from round_robin to ewma, resetting the instance")
    backend.endpoints = {}
    balancer.sync_backend(backend)
    assert.is_nil(balancer.get_balancer_by_upstream_name("shop"))
  end)

  it("resolves external names and brackets IPv6", function()
    local balancer = load("balancer", { var = {}, ctx = {} })
    local round_robin = package.loaded["balancer.round_robin"]
    require("util.dns")._cache:set("db.example", { "10.0.0.1", "fd00::1" }, 60)
    stub(round_robin, "new", {})
    local service = { spec = { type = "ExternalName" } }
    balancer.sync_backend({ name = "db", service = service, endpoints = { { address = "db.example", port = "80" } } })
    assert.stub(round_robin.new).was_called_with(round_robin, { name = "db", service = service,
      endpoints = { { address = "10.0.0.1", port = "80" }, { address = "[fd00::1]", port = "80" } } })
  end)

  it("asks for affinity before all else", function()
    local balancer = load("balancer", { var = { request_uri = "/" }, ctx = {} })
    local canary = { name = "new", endpoints = endpoints(1), trafficShapingPolicy = { weight = 100 } }
    balancer.sync_backend(canary)
    local primary = { alternative_backends = { "new" }, is_affinitized = function() return true end }
    assert.is_false(balancer.route_to_alternative_balancer(primary))
    primary.is_affinitized = function() return false end
    assert.is_true(balancer.route_to_alternative_balancer(primary))
    canary.trafficShapingPolicy = { weight = 0 }
    balancer.sync_backend(canary)
    assert.is_false(balancer.route_to_alternative_balancer(primary))
    balancer.get_balancer_by_upstream_name("new").is_affinitized = function() return true end
    assert.is_true(balancer.route_to_alternative_balancer(primary))
    primary.alternative_backends = { "unknown" }
    assert.is_false(balancer.route_to_alternative_balancer(primary))
  end)
end)

describe("ewma", function()
  local now = 1543238266
  local ewma, instance
  before_each(function()
    ewma = load("balancer.ewma", { now = function() return now end, ctx = {}, var = { balancer_ewma_score = -1 } })
    for _, dict in ipairs({ "balancer_ewma", "balancer_ewma_last_touched_at", "balancer_ewma_locks" }) do
      ngx.shared[dict]:flush_all()
    end
    for i, row in ipairs({ { 0.2, 1 }, { 0.3, 5 }, { 1.2, 20 } }) do
      ngx.shared.balancer_ewma:set("10.10.10." .. i .. ":8080", row[1])
      ngx.shared.balancer_ewma_last_touched_at:set("10.10.10." .. i .. ":8080", now - row[2])
    end
    instance = ewma:new({ name = "shop", endpoints = endpoints(3), alternativeBackends = { "x" }, trafficShapingPolicy = { weight = 1 } })
  end)

  it("has the fields that were told", function()
    assert.same(endpoints(3), instance.peers)
    assert.same({ "x" }, instance.alternative_backends)
    assert.same({ weight = 1 }, instance.traffic_shaping_policy)
  end)

  it("picks the lower of two decayed scores", function()
    ngx.ctx.balancer_ewma_tried_endpoints = { ["10.10.10.2:8080"] = true }
    assert.equal("10.10.10.3:8080", instance:balance())
    assert.equal(0.16240233988393523723, ngx.var.balancer_ewma_score)
    assert.is_true(ngx.ctx.balancer_ewma_tried_endpoints["10.10.10.3:8080"])
  end)

  it("starts over when all were tried", function()
    ngx.ctx.balancer_ewma_tried_endpoints = { ["10.10.10.1:8080"] = true, ["10.10.10.2:8080"] = true, ["10.10.10.3:8080"] = true }
    spy.on(ngx, "log")
    assert.is_string(instance:balance())
    assert.spy(ngx.log).was_called(1)
  end)

  it("has nothing to choose with one endpoint", function()
    assert.equal("10.10.10.1:8080", ewma:new({ name = "shop", endpoints = endpoints(1) }):balance())
    assert.equal(-1, ngx.var.balancer_ewma_score)
  end)

  it("learns from an answer", function()
    ngx.var = { upstream_addr = "10.10.10.9:80, 10.10.10.2:8080", upstream_connect_time = "1, 0.02", upstream_response_time = "1, 0.1" }
    instance:after_balance()
    local weight = math.exp(-5 / 10)
    assert.near(0.3 * weight + 0.12 * (1 - weight), ngx.shared.balancer_ewma:get("10.10.10.2:8080"), 1e-12)
    assert.equal(now, ngx.shared.balancer_ewma_last_touched_at:get("10.10.10.2:8080"))
    assert.is_nil(ngx.shared.balancer_ewma_locks:get("10.10.10.2:8080:ewma_key"))
  end)

  it("does without a sample when another is at it", function()
    ngx.shared.balancer_ewma_locks:set("10.10.10.2:8080:ewma_key", true)
    ngx.var = { upstream_addr = "10.10.10.2:8080", upstream_connect_time = "0.02", upstream_response_time = "0.1" }
    instance:after_balance()
    assert.equal(0.3, ngx.shared.balancer_ewma:get("10.10.10.2:8080"))
  end)

  it("starts a new endpoint with the mean, and forgets one that is gone", function()
    local list = endpoints(4)
    table.remove(list, 1)
    instance:sync({ name = "shop", endpoints = list })
    assert.is_nil(ngx.shared.balancer_ewma:get("10.10.10.1:8080"))
    assert.near(0.75, ngx.shared.balancer_ewma:get("10.10.10.4:8080"), 1e-12)
    assert.is_nil(instance.alternative_backends)
  end)
end)

describe("chash", function()
  it("hashes as nginx does", function()
    local chash = load("balancer.chash", { var = { request_uri = "/a" } })
    local ring = require("resty.chash"):new({ ["10.10.10.1:8080"] = 1, ["10.10.10.2:8080"] = 1 })
    assert.equal(320, ring.size)
    -- The first point: the CRC-32 of host, zero, port and four zeros.
    local want, found = ngx.crc32_long("10.10.10.1\0" .. "8080" .. "\0\0\0\0"), false
    for i = 0, 319 do
      found = found or ring.points[i] == want and ring.ids[ring.owners[i]] == "10.10.10.1:8080"
      assert.is_true(i == 0 or ring.points[i - 1] <= ring.points[i])
    end
    assert.is_true(found)
    local instance = chash:new({ name = "shop", endpoints = endpoints(9), upstreamHashByConfig = { ["upstream-hash-by"] = "$request_uri" } })
    local peer = instance:balance()
    for _ = 1, 20 do
      assert.equal(peer, instance:balance())
    end
  end)

  it("goes round its points", function()
    load("balancer.chash", { var = {} })
    local ring = require("resty.chash"):new({ a = 1, b = 2 })
    local _, index = ring:find("key")
    local seen = {}
    for _ = 1, ring.size do
      local id
      id, index = ring:next(index)
      seen[id] = (seen[id] or 0) + 1
    end
    assert.same({ a = 160, b = 320 }, seen)
    assert.is_nil(require("resty.chash"):new({}):find("key"))
  end)
end)

describe("chashsubset", function()
  it("makes sets of one size", function()
    local chashsubset = load("balancer.chashsubset", { var = {} })
    for n, sets in pairs({ [1] = 1, [3] = 1, [4] = 2, [9] = 3, [10] = 4 }) do
      local instance = chashsubset:new({ name = "shop", endpoints = endpoints(n),
        upstreamHashByConfig = { ["upstream-hash-by"] = "$x", ["upstream-hash-by-subset-size"] = 3 } })
      local count = 0
      for _, members in pairs(instance.subsets) do
        assert.equal(3, #members)
        count = count + 1
      end
      assert.equal(sets, count)
      assert.is_string(instance:balance())
    end
  end)
end)

describe("sticky", function()
  local cookie = require("resty.cookie")
  for _, mode in ipairs({ "sticky_balanced", "sticky_persistent" }) do
    local function backend()
      return { name = "shop", endpoints = endpoints(3), sessionAffinityConfig = { name = "cookie",
        cookieSessionAffinity = { name = "route", locations = { ["test.com"] = { "/" } } } } }
    end

    local payload, given
    local function instance_of(b)
      local sticky = load("balancer." .. mode, { var = { location_path = "/", host = "test.com" } })
      stub(cookie, "new", function()
        return { get = function() return given end, set = function(_, p) payload = p return true end }
      end)
      payload = nil
      return sticky:new(b)
    end

    it(mode .. " sets what was asked for", function()
      given = false
      local instance = instance_of(backend())
      assert.equal("route", instance:cookie_name())
      assert.equal(ngx.md5(ngx.md5("shop") .. "shop"), instance.backend_key)
      instance:set_cookie("key")
      assert.same({ key = "route", value = "key|" .. instance.backend_key, path = "/", httponly = true, secure = false }, payload)
      local b = backend()
      b.sessionAffinityConfig.cookieSessionAffinity.name = nil
      assert.equal("route", instance_of(b):cookie_name())
    end)

    it(mode .. " reads both kinds of cookies", function()
      local instance = instance_of(backend())
      given = "old"
      assert.same({ upstream_key = "old" }, instance:get_cookie_parsed())
      assert.is_false(instance:is_affinitized())
      given = "new|" .. instance.backend_key
      assert.same({ upstream_key = "new", backend_key = instance.backend_key }, instance:get_cookie_parsed())
      assert.equal("new", instance:get_cookie())
      assert.is_true(instance:is_affinitized())
      given = "new|another"
      assert.is_false(instance:is_affinitized())
    end)

    it(mode .. " changes on failure only if told", function()
      for _, change in ipairs({ false, true }) do
        local b = backend()
        b.sessionAffinityConfig.cookieSessionAffinity.change_on_failure = change
        given = false
        local instance = instance_of(b)
        local first = instance:balance()
        given = payload.value
        payload = nil
        instance.get_last_failure = function() return "failed" end
        ngx.var.upstream_addr = first
        assert.equal(change, instance:balance() ~= first)
        assert.equal(change, payload ~= nil)
      end
    end)
  end
end)
