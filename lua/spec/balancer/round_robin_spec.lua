local helper = require("spec.helper")

after_each(helper.restore)

describe("balancer.round_robin", function()
  local round_robin = helper.load("balancer.round_robin", {})

  it("chooses all endpoints equally often", function()
    local instance, count = round_robin:new({ name = "shop", endpoints = helper.endpoints(3) }), {}
    local last
    for _ = 1, 300 do
      local peer = instance:balance()
      assert.not_equal(last, peer)
      last, count[peer] = peer, (count[peer] or 0) + 1
    end
    assert.same({ ["10.10.10.1:8080"] = 100, ["10.10.10.2:8080"] = 100, ["10.10.10.3:8080"] = 100 }, count)
  end)

  it("applies new endpoints", function()
    local instance = round_robin:new({ name = "shop", endpoints = helper.endpoints(2) })
    instance:sync({ endpoints = helper.endpoints(1), trafficShapingPolicy = { weight = 5 } })
    for _ = 1, 5 do
      assert.equal("10.10.10.1:8080", instance:balance())
    end
    assert.same({ weight = 5 }, instance.traffic_shaping_policy)
  end)
end)
