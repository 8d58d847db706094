local helper = require("spec.helper")
local load = helper.load
local endpoints = helper.endpoints

after_each(helper.restore)

describe("balancer.chashsubset", function()
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
