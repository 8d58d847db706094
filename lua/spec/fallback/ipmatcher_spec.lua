-- Tests our substitute for resty.ipmatcher, even if nginx has the real library.

local ipmatcher = require("fallback.resty.ipmatcher")

describe("fallback.resty.ipmatcher", function()
  it("matches addresses and networks", function()
    local matcher = assert(ipmatcher.new({ "10.0.0.0/9", "192.0.2.7", "fd00::/12", "2001:db8::1" }))
    for _, address in ipairs({ "10.127.0.1", "192.0.2.7", "fd0f::1", "2001:db8:0:0::1", "[fd00::]" }) do
      assert.is_true(matcher:match(address))
    end
    for _, address in ipairs({ "10.128.0.1", "192.0.2.8", "fd10::1", "2001:db8::2", "::ffff:10.0.0.1" }) do
      assert.is_false((matcher:match(address)))
    end
    assert.is_true(matcher:match_bin("\10\0\0\1"))
    assert.is_false((matcher:match_bin("\11\0\0\1")))
  end)

  it("returns the value of the smallest network", function()
    local matcher = assert(ipmatcher.new_with_value({
      ["0.0.0.0/0"] = "all", ["10.0.0.0/8"] = "private", ["10.1.0.0/16"] = "office",
    }))
    assert.equal("office", matcher:match("10.1.2.3"))
    assert.equal("private", matcher:match("10.2.2.3"))
    assert.equal("all", matcher:match("192.0.2.1"))
    assert.is_false((matcher:match("::1")))
  end)

  it("rejects what is not an address", function()
    for _, network in ipairs({ "", "10.0.0.0/33", "10.0.0", "::1/129", "example", "10.0.0.0/x", "::g" }) do
      local none, err = ipmatcher.new({ network })
      assert.is_nil(none)
      assert.is_string(err)
    end
    local matcher = assert(ipmatcher.new({ "10.0.0.0/8" }))
    for _, address in ipairs({ "", "10.0.0", "example" }) do
      local matched, err = matcher:match(address)
      assert.is_false(matched)
      assert.is_string(err)
    end
  end)

  it("parses addresses into numbers", function()
    assert.equal(0x0a000001, ipmatcher.parse_ipv4("10.0.0.1"))
    assert.is_false(ipmatcher.parse_ipv4("::1"))
    assert.same({ 0x20010db8, 0, 0, 1 }, ipmatcher.parse_ipv6("2001:db8::1"))
    assert.is_false(ipmatcher.parse_ipv6("10.0.0.1"))
  end)
end)
