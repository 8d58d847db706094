local helper = require("spec.helper")
local load = helper.load
local endpoints = helper.endpoints

after_each(helper.restore)

describe("balancer.chash", function()
  it("hashes as nginx does", function()
    local chash = load("balancer.chash", { var = { request_uri = "/a" } })
    local ring = require("resty.chash"):new({ ["10.10.10.1:8080"] = 1, ["10.10.10.2:8080"] = 1 })
    assert.equal(320, ring.size)
    -- The first point: the CRC-32 of host, zero byte, port and four zero bytes.
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

  it("iterates over its points", function()
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
