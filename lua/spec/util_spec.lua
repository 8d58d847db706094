-- The small functions: util, split, same_site, nodemap, resolv_conf, dns.

local original_ngx = ngx

local function with_ngx(fields)
  _G.ngx = setmetatable(fields, { __index = original_ngx })
end

local function fresh(name)
  package.loaded[name] = nil
  return require(name)
end

after_each(function()
  _G.ngx = original_ngx
end)

describe("util", function()
  it("evaluates values as nginx.conf has them", function()
    with_ngx({ var = { remote_addr = "192.168.1.1", ["1"] = "one", request_uri = "/a" } })
    local util = fresh("util")
    for text, want in pairs({
      [""] = "", plain = "plain", ["$remote_addr"] = "192.168.1.1", ["${remote_addr}"] = "192.168.1.1",
      ["a${remote_addr}b$request_uri"] = "a192.168.1.1b/a", ["$1-$2"] = "one-", ["$nothing"] = "",
      ["$remote_addr$request_uri"] = "192.168.1.1/a", ["5$"] = "5$", ["$remote_addr-x"] = "192.168.1.1-x",
    }) do
      assert.equal(want, util.generate_var_value(assert(util.parse_complex_value(text))), text)
    end
    local tokens, err = util.parse_complex_value("${open")
    assert.is_nil(tokens)
    assert.is_string(err)
  end)

  it("tells endpoints apart", function()
    local util = fresh("util")
    local a, b, c = { address = "a", port = "1" }, { address = "b", port = "2" }, { address = "c", port = "3" }
    local added, removed = util.diff_endpoints({ a, b }, { b, c })
    assert.same({ "c:3" }, added)
    assert.same({ "a:1" }, removed)
    assert.same({ ["a:1"] = 1, ["b:2"] = 1 }, util.get_nodes({ a, b, a }))
    added, removed = util.diff_endpoints(nil, nil)
    assert.same({ {}, {} }, { added, removed })
  end)

  it("copies, compares and counts", function()
    local util = fresh("util")
    local deep = { a = { b = { 1, 2 } }, c = "x" }
    local copy = util.deepcopy(deep)
    assert.is_true(util.deep_compare(deep, copy))
    copy.a.b[2] = 3
    assert.is_false(util.deep_compare(deep, copy))
    assert.equal(2, deep.a.b[2])
    assert.equal(2, util.tablelength(deep))
    assert.is_true(util.is_blank(nil))
    assert.is_true(util.is_blank(""))
    assert.is_false(util.is_blank("x"))
    assert.is_true(util.string_to_bool("true"))
    assert.is_false(util.string_to_bool("no"))
    assert.equal("a%b_c%d", util.replace_special_char("a.b_c.d", ".", "%"))
  end)
end)

describe("util.split", function()
  local split = require("util.split")
  it("takes what nginx writes of several attempts", function()
    for _, text in ipairs({ "a:1, b:2", "a:1 : b:2", "a:1,b:2", "a:1|b:2" }) do
      assert.equal("a:1", split.get_first_value(text))
      assert.equal("b:2", split.get_last_value(text))
    end
    assert.is_nil(split.get_last_value(nil))
    assert.is_nil(split.get_last_value(""))
    assert.same({ { "[::1]", "80" }, { "b", "2" } }, split.split_upstream_addr("[::1]:80, b:2"))
  end)
  it("takes a list apart", function()
    local parts, n = split.split_string("one,two", ",")
    assert.same({ "one", "two" }, parts)
    assert.equal(2, n)
    parts, n = split.split_string(nil, ",")
    assert.same({}, parts)
    assert.equal(0, n)
  end)
end)

describe("util.same_site", function()
  local compatible = require("util.same_site").same_site_none_compatible
  local mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_14_6) AppleWebKit/605.1.15 "
  for agent, want in pairs({
    ["Chrome/4"] = false, ["Chrome/51.0"] = false, ["Chrome/66.0.3359"] = false, ["Chrome/67.0"] = false,
    ["Chrome/80.0"] = true, ["Chrome/400.0"] = true, ["curl/8"] = true,
    ["(iPhone; CPU iPhone OS 12_4 like Mac OS X)"] = false, ["(iPhone; CPU iPhone OS 13_4)"] = true,
    ["(iPad; CPU OS 12_4 like Mac OS X)"] = false, ["(iPad; CPU OS 13_3)"] = true,
    [mac .. "Version/12.1 Safari/605.1.15"] = false, [mac .. "Chrome/80.0 Safari/537.36"] = true,
  }) do
    it("knows " .. agent, function() assert.equal(want, compatible(agent)) end)
  end
  it("takes a nameless browser for a good one", function() assert.is_true(compatible(nil)) end)
end)

describe("util.nodemap", function()
  local nodemap = require("util.nodemap")
  local nodes = { ["10.0.0.1:80"] = 1, ["10.0.0.2:80"] = 1, ["10.0.0.3:80"] = 1 }
  it("finds by the MD5 of salt and node", function()
    local map = nodemap:new(nodes, "shop")
    assert.equal("10.0.0.2:80", map:find(ngx.md5("shop10.0.0.2:80")))
    assert.is_nil(map:find(ngx.md5("10.0.0.2:80")))
    map:reinit({ ["10.0.0.9:80"] = 1 })
    assert.is_nil(map:find(ngx.md5("shop10.0.0.2:80")))
    assert.equal("10.0.0.9:80", (map:random()))
  end)
  it("draws one that is not left out", function()
    local map = nodemap:new(nodes, "shop")
    for _ = 1, 20 do
      local endpoint, key = map:random_except({ ["10.0.0.1:80"] = true, ["10.0.0.3:80"] = true })
      assert.equal("10.0.0.2:80", endpoint)
      assert.equal(endpoint, map:find(key))
    end
    assert.is_nil((map:random_except(nodes)))
    assert.is_nil((nodemap:new({}, "x"):random()))
  end)
end)

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

describe("util.dns", function()
  local dns, resolver, asked
  local conf = { nameservers = { "1.2.3.4" }, search = {}, ndots = 1 }
  local A, AAAA = 1, 28

  before_each(function()
    with_ngx({ log = function() end })
    package.loaded["util.resolv_conf"] = conf
    package.loaded["resty.dns.resolver"] = nil
    resolver = require("resty.dns.resolver")
    asked = {}
    dns = fresh("util.dns")
  end)

  local function answer(by_type)
    resolver.query = function(_, name, options)
      asked[#asked + 1] = name
      return unpack(by_type[options.qtype] or { nil, "no answer" })
    end
  end

  it("asks as it should", function()
    spy.on(resolver, "new")
    answer({})
    dns.lookup("example.com")
    assert.spy(resolver.new).was_called_with(resolver, { nameservers = conf.nameservers, retrans = 5, timeout = 2000 })
  end)

  it("keeps addresses for their shortest time", function()
    spy.on(dns._cache, "set")
    answer({ [A] = { { { name = "x", ttl = 90, cname = "y" }, { address = "1.1.1.1", ttl = 60 }, { address = "1.1.1.2", ttl = 70 } } } })
    assert.same({ "1.1.1.1", "1.1.1.2" }, dns.lookup("example.com"))
    assert.spy(dns._cache.set).was_called_with(match._, "example.com", { "1.1.1.1", "1.1.1.2" }, 60)
    dns.lookup("example.com")
    assert.equal(1, #asked)
  end)

  it("says why a name was not resolved", function()
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
    resolver.new = function() return nil, "an error" end
    assert.same({ "example.com" }, dns.lookup("example.com"))
    assert.spy(ngx.log).was_called_with(ngx.ERR, "failed to instantiate the resolver: an error")
  end)

  it("follows the search list by the number of dots", function()
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
