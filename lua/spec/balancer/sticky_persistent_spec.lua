local helper = require("spec.helper")
local cookie = require("resty.cookie")

after_each(helper.restore)

describe("balancer.sticky_persistent", function()
  local sticky, given
  local function new(n)
    sticky = helper.load("balancer.sticky_persistent", { var = {} })
    stub(cookie, "new", { get = function() return given end, set = function() return true end })
    return sticky:new({ name = "shop", endpoints = helper.endpoints(n), sessionAffinityConfig = { name = "cookie" } })
  end

  it("moves only sessions of removed endpoints", function()
    local instance = new(5)
    local before = {}
    for i = 1, 5 do
      before[ngx.md5("shop10.10.10." .. i .. ":8080")] = "10.10.10." .. i .. ":8080"
    end
    local list = helper.endpoints(9)
    table.remove(list, 2)
    instance:sync({ name = "shop", endpoints = list, sessionAffinityConfig = { name = "cookie" } })
    for key, endpoint in pairs(before) do
      given = key
      if endpoint == "10.10.10.2:8080" then
        assert.not_equal(endpoint, instance:balance())
      else
        assert.equal(endpoint, instance:balance())
      end
    end
  end)

  it("does not choose failed endpoints", function()
    local instance = new(2)
    for _ = 1, 10 do
      assert.equal("10.10.10.2:8080", (instance:pick_new_upstream({ ["10.10.10.1:8080"] = true })))
    end
    assert.is_nil((instance:pick_new_upstream({ ["10.10.10.1:8080"] = true, ["10.10.10.2:8080"] = true })))
  end)
end)
