local helper = require("spec.helper")

after_each(helper.restore)

describe("util.resolv_conf", function()
  local function load(text)
    local file = assert(io.tmpfile())
    file:write(text)
    file:seek("set", 0)
    local open = io.open
    io.open = function(path, mode)
      assert.same({ "/etc/resolv.conf", "r" }, { path, mode })
      return file
    end
    package.loaded["util.resolv_conf"] = nil
    local ok, conf = pcall(require, "util.resolv_conf")
    io.open = open
    assert.is_true(ok)
    assert.equal("closed file", io.type(file))
    return conf
  end
  it("reads servers, search list and ndots", function()
    local conf = load("# c\nnameserver 10.0.0.1\nnameserver fd00::1\nsearch a b.c\nsearch d e ; c\noptions timeout:2 ndots:5\n")
    assert.same({ "10.0.0.1", "[fd00::1]" }, conf.nameservers)
    assert.same({ "d", "e" }, conf.search)
    assert.equal(5, conf.ndots)
  end)
  it("has defaults", function()
    local conf = load("")
    assert.same({ nameservers = {}, search = {}, ndots = 1 }, conf)
  end)
  it("fails without the file", function()
    local open = io.open
    io.open = function() return nil, "no such file" end
    package.loaded["util.resolv_conf"] = nil
    local ok, err = pcall(require, "util.resolv_conf")
    io.open = open
    assert.is_false(ok)
    assert.matches("could not open /etc/resolv.conf: no such file", err)
  end)
end)
