local helper = require("spec.helper")
local load = helper.load
local endpoints = helper.endpoints

after_each(helper.restore)

describe("balancer.ewma", function()
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

  it("has the fields of the backend", function()
    assert.same(endpoints(3), instance.peers)
    assert.same({ "x" }, instance.alternative_backends)
    assert.same({ weight = 1 }, instance.traffic_shaping_policy)
  end)

  it("chooses the lower of two decayed scores", function()
    ngx.ctx.balancer_ewma_tried_endpoints = { ["10.10.10.2:8080"] = true }
    assert.equal("10.10.10.3:8080", instance:balance())
    assert.equal(0.16240233988393523723, ngx.var.balancer_ewma_score)
    assert.is_true(ngx.ctx.balancer_ewma_tried_endpoints["10.10.10.3:8080"])
  end)

  it("starts again when all endpoints were tried", function()
    ngx.ctx.balancer_ewma_tried_endpoints = { ["10.10.10.1:8080"] = true, ["10.10.10.2:8080"] = true, ["10.10.10.3:8080"] = true }
    spy.on(ngx, "log")
    assert.is_string(instance:balance())
    assert.spy(ngx.log).was_called(1)
  end)

  it("needs no score for a single endpoint", function()
    assert.equal("10.10.10.1:8080", ewma:new({ name = "shop", endpoints = endpoints(1) }):balance())
    assert.equal(-1, ngx.var.balancer_ewma_score)
  end)

  it("updates the score from a response", function()
    ngx.var = { upstream_addr = "10.10.10.9:80, 10.10.10.2:8080", upstream_connect_time = "1, 0.02", upstream_response_time = "1, 0.1" }
    instance:after_balance()
    local weight = math.exp(-5 / 10)
    assert.near(0.3 * weight + 0.12 * (1 - weight), ngx.shared.balancer_ewma:get("10.10.10.2:8080"), 1e-12)
    assert.equal(now, ngx.shared.balancer_ewma_last_touched_at:get("10.10.10.2:8080"))
    assert.is_nil(ngx.shared.balancer_ewma_locks:get("10.10.10.2:8080:ewma_key"))
  end)

  it("skips a sample if another worker holds the lock", function()
    ngx.shared.balancer_ewma_locks:set("10.10.10.2:8080:ewma_key", true)
    ngx.var = { upstream_addr = "10.10.10.2:8080", upstream_connect_time = "0.02", upstream_response_time = "0.1" }
    instance:after_balance()
    assert.equal(0.3, ngx.shared.balancer_ewma:get("10.10.10.2:8080"))
  end)

  it("gives a new endpoint the average score, and deletes the score of a removed one", function()
    local list = endpoints(4)
    table.remove(list, 1)
    instance:sync({ name = "shop", endpoints = list })
    assert.is_nil(ngx.shared.balancer_ewma:get("10.10.10.1:8080"))
    assert.near(0.75, ngx.shared.balancer_ewma:get("10.10.10.4:8080"), 1e-12)
    assert.is_nil(instance.alternative_backends)
  end)
end)
