local helper = require("spec.helper")
local load = helper.load
local endpoints = helper.endpoints

after_each(helper.restore)

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
      { { ["load-balance"] = "" }, "round_robin" },
    }) do
      case[1].name = "shop"
      assert.equal(package.loaded["balancer." .. case[2]], balancer.get_implementation(case[1]))
    end
  end)

  it("falls back to round_robin, with one warning, if an algorithm lacks its parameters", function()
    for _, name in ipairs({ "chash", "chashsubset", "sticky_balanced", "sticky_persistent", "what" }) do
      local balancer = load("balancer", { var = {}, ctx = {} })
      spy.on(ngx, "log")
      for _ = 1, 3 do
        local backend = { name = "shop", ["load-balance"] = name, sessionAffinityConfig = { name = "" },
          upstreamHashByConfig = { ["upstream-hash-by-subset-size"] = 3 } }
        assert.equal(package.loaded["balancer.round_robin"], balancer.get_implementation(backend))
      end
      assert.spy(ngx.log).was_called(1)
    end
  end)

  it("removes endpoints at ports of the controller", function()
    local balancer = load("balancer", { var = {}, ctx = {} })
    require("protected_ports").add({ 10246 })
    spy.on(ngx, "log")
    local shop = endpoints(2)
    shop[3] = { address = "127.0.0.1", port = "10246" }
    for _ = 1, 2 do
      balancer.sync_backend({ name = "shop", endpoints = { shop[3], shop[1], shop[2] } })
    end
    assert.same({ ["10.10.10.1:8080"] = 1, ["10.10.10.2:8080"] = 1 }, balancer.get_balancer_by_upstream_name("shop").nodes)
    assert.spy(ngx.log).was_called(1)
    balancer.sync_backend({ name = "shop", endpoints = { shop[3] } })
    assert.is_nil(balancer.get_balancer_by_upstream_name("shop"))
  end)

  it("warns and answers 502 if an algorithm returns no peer", function()
    local balancer = load("balancer", { var = { proxy_upstream_name = "shop" }, ctx = {} })
    balancer.sync_backend({ name = "shop", endpoints = endpoints(1) })
    stub(balancer.get_balancer(), "balance", function() return nil end)
    spy.on(ngx, "log")
    stub(ngx, "exit")
    balancer.balance()
    assert.spy(ngx.log).was_called_with(ngx.WARN, "no peer was returned, balancer: ", "round_robin")
    assert.stub(ngx.exit).was_called(1)
  end)

  it("syncs an instance, or creates a new one for another algorithm", function()
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

  it("checks affinity first", function()
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
