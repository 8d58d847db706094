local helper = require("spec.helper")

after_each(helper.restore)

describe("util.dns", function()
  local dns, resolver, asked
  local conf = { nameservers = { "1.2.3.4" }, search = {}, ndots = 1 }
  local A, AAAA = 1, 28

  before_each(function()
    helper.with_ngx({ log = function() end })
    package.loaded["util.resolv_conf"] = conf
    package.loaded["resty.dns.resolver"] = nil
    resolver = require("resty.dns.resolver")
    asked = {}
    dns = helper.fresh("util.dns")
  end)

  local function answer(by_type)
    resolver.query = function(_, name, options)
      asked[#asked + 1] = name
      return unpack(by_type[options.qtype] or { nil, "no answer" })
    end
  end

  it("sends the right queries", function()
    spy.on(resolver, "new")
    answer({})
    dns.lookup("example.com")
    assert.spy(resolver.new).was_called_with(resolver, { nameservers = conf.nameservers, retrans = 5, timeout = 2000 })
  end)

  it("caches addresses for their shortest TTL", function()
    spy.on(dns._cache, "set")
    answer({ [A] = { { { name = "x", ttl = 90, cname = "y" }, { address = "1.1.1.1", ttl = 60 }, { address = "1.1.1.2", ttl = 70 } } } })
    assert.same({ "1.1.1.1", "1.1.1.2" }, dns.lookup("example.com"))
    assert.spy(dns._cache.set).was_called_with(match._, "example.com", { "1.1.1.1", "1.1.1.2" }, 60)
    dns.lookup("example.com")
    assert.equal(1, #asked)
  end)

  it("returns at most a thousand addresses of a name", function()
    local many = {}
    for i = 1, 5000 do
      many[i] = { address = "10.0." .. math.floor(i / 250) .. "." .. i % 250, ttl = 1 }
    end
    answer({ [A] = { many } })
    assert.equal(1000, #dns.lookup("many.example"))
  end)

  it("logs why a name was not resolved", function()
    spy.on(ngx, "log")
    for _, case in ipairs({
      { {}, "no answer\nno answer" },
      { { [A] = { {} }, [AAAA] = { {} } }, "no A record resolved\nno AAAA record resolved" },
      { { [A] = { { errcode = 1, errstr = "format error" } }, [AAAA] = { {} } },
        "server returned error code: 1: format error\nno AAAA record resolved" },
    }) do
      answer(case[1])
      assert.same({ "example.com" }, dns.lookup("example.com"))
      assert.spy(ngx.log).was_called_with(ngx.ERR, "failed to query the DNS server for ", "example.com", ":\n", case[2])
    end
    conf.search, conf.ndots = { "a.local", "local" }, 1
    resolver.query = function(_, name, options) return nil, name .. " " .. options.qtype end
    assert.same({ "last.one" }, dns.lookup("last.one"))
    assert.spy(ngx.log).was_called_with(ngx.ERR, "failed to query the DNS server for ", "last.one", ":\n",
      "last.one.local 1\nlast.one.local 28")
    conf.search = {}
    resolver.new = function() return nil, "an error" end
    assert.same({ "example.com" }, dns.lookup("example.com"))
    assert.spy(ngx.log).was_called_with(ngx.ERR, "failed to instantiate the resolver: an error")
  end)

  it("uses the search list according to the number of dots", function()
    conf.search, conf.ndots = { "a.local", "local" }, 2
    answer({})
    dns.lookup("db.ns")
    dns.lookup("db.ns.svc")
    dns.lookup("db.")
    conf.search, conf.ndots = {}, 1
    assert.same({
      "db.ns.a.local", "db.ns.a.local", "db.ns.local", "db.ns.local", "db.ns", "db.ns",
      "db.ns.svc", "db.ns.svc", "db.ns.svc.a.local", "db.ns.svc.a.local", "db.ns.svc.local", "db.ns.svc.local",
      "db.", "db.",
    }, asked)
  end)
end)
