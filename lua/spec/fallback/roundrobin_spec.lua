-- Tests our substitute for resty.roundrobin.

local roundrobin = require("fallback.resty.roundrobin")

describe("fallback.resty.roundrobin", function()
  it("follows the weights", function()
    local ring, count = roundrobin:new({ a = 2, b = 1 }), {}
    for _ = 1, 300 do
      local node = ring:find()
      count[node] = (count[node] or 0) + 1
    end
    assert.same({ a = 200, b = 100 }, count)
  end)

  it("starts again with new nodes", function()
    local ring = roundrobin:new({ a = 1 })
    assert.equal("a", ring:find())
    ring:reinit({ b = 1 })
    assert.equal("b", ring:find())
    assert.is_nil((roundrobin:new({}):find()))
  end)
end)
