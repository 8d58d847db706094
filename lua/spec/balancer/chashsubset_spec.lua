local helper = require("spec.helper")
local load = helper.load
local endpoints = helper.endpoints

after_each(helper.restore)

describe("balancer.chashsubset", function()
  it("builds subsets of equal size", function()
    local chashsubset = load("balancer.chashsubset", { var = {} })
    for n, sets in pairs({ [1] = 1, [3] = 1, [4] = 2, [9] = 3, [10] = 4 }) do
      local instance = chashsubset:new({ name = "shop", endpoints = endpoints(n),
        upstreamHashByConfig = { ["upstream-hash-by"] = "$x", ["upstream-hash-by-subset-size"] = 3 } })
      local count = 0
      for _, members in pairs(instance.subsets) do
        assert.equal(math.min(3, n), #members)
        for _, member in ipairs(members) do
          assert.equal("8080", member.port)
          assert.matches("^10%.10%.10%.%d+$", member.address)
        end
        count = count + 1
      end
      assert.equal(sets, count)
      assert.matches("^10%.10%.10%.%d+:8080$", instance:balance())
    end
  end)

  it("limits the size of subsets to the number of endpoints", function()
    local chashsubset = load("balancer.chashsubset", { var = {} })
    for _, case in ipairs({
      { 9999999999, 4 }, { math.huge, 4 }, { "2", 2 }, { 2.9, 2 }, { 0.5, 3 }, { -1, 3 }, { "many", 3 }, { nil, 3 },
    }) do
      local backend = { name = "shop", endpoints = endpoints(4),
        upstreamHashByConfig = { ["upstream-hash-by"] = "$x", ["upstream-hash-by-subset-size"] = case[1] } }
      local instance = chashsubset:new(backend)
      assert.equal(case[2], #instance.subsets.set1, tostring(case[1]))
      backend.endpoints = endpoints(1)
      instance:sync(backend)
      assert.same({ set1 = endpoints(1) }, instance.subsets)
      assert.equal("10.10.10.1:8080", instance:balance())
    end
  end)
end)
