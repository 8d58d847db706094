-- Tests our substitute for resty.string, even if nginx has the real library.

local str = require("fallback.resty.string")

describe("fallback.resty.string", function()
  it("writes bytes as hexadecimal digits", function()
    assert.equal("00ff410a", str.to_hex("\0\255A\n"))
    assert.equal("", str.to_hex(""))
  end)

  it("reads the number at the beginning", function()
    assert.equal(42, str.atoi(" 42 pods"))
    assert.equal(-7, str.atoi("-7"))
    assert.equal(0, str.atoi("pods"))
  end)
end)
