local helper = require("spec.helper")

after_each(helper.restore)

describe("balancer.sticky_balanced", function()
  local sticky = helper.load("balancer.sticky_balanced", { var = {} })
  local function new(n)
    return sticky:new({ name = "shop", endpoints = helper.endpoints(n), sessionAffinityConfig = { name = "cookie" } })
  end

  it("returns keys that map to their endpoints", function()
    local instance, seen = new(3), {}
    for _ = 1, 200 do
      local endpoint, key = instance:pick_new_upstream({})
      assert.equal(endpoint, (instance.instance:find(key)))
      assert.matches("^%d+%.?%d*%." .. ngx.worker.pid() .. "%.%d+$", key)
      seen[endpoint] = true
    end
    assert.equal(3, require("util").tablelength(seen))
  end)

  it("gives up after some tries if all endpoints have failed", function()
    local instance = new(1)
    assert.is_nil((instance:pick_new_upstream({ ["10.10.10.1:8080"] = true })))
  end)
end)
