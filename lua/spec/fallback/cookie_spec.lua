-- Tests our substitute for resty.cookie, even if nginx has the real library.

local helper = require("spec.helper")

after_each(helper.restore)

describe("fallback.resty.cookie", function()
  local jar
  local function with(header)
    helper.with_ngx({ var = { http_cookie = header }, header = {} })
    jar = helper.fresh("fallback.resty.cookie"):new()
  end

  it("finds a cookie by its full name", function()
    with('xroute=1; route=2; route=3; q="quoted" ; e=; a = b')
    for name, want in pairs({ xroute = "1", route = "2", q = "quoted", e = "", a = "b" }) do
      assert.equal(want, jar:get(name))
    end
    assert.is_nil((jar:get("oute")))
    assert.same({ xroute = "1", route = "2", q = "quoted", e = "", a = "b" }, jar:get_all())
    with(nil)
    assert.is_nil((jar:get("route")))
    assert.is_nil((jar:get_all()))
  end)

  it("ignores cookies without a name", function()
    with("a=1; =2; b")
    assert.is_nil((jar:get("")))
    assert.same({ a = "1" }, jar:get_all())
  end)

  it("parses hostile headers in linear time", function()
    local long = 64 * 1024
    for _, header in ipairs({
      "route=" .. string.rep(" ", long) .. "x" .. string.rep(" ", long) .. "y",
      string.rep("route", long / 5), string.rep("route ", long / 6), string.rep("a", long), string.rep("= ", long / 2),
      string.rep(";", long), string.rep('"', long), "route" .. string.rep(" ", long), "route=" .. string.rep('"', long),
      string.rep("route;", long / 6) .. "route=1", string.rep("\t", long) .. "=", string.rep("x y", long / 3),
    }) do
      with(header)
      local before = os.clock()
      jar:get("route")
      jar:get_all()
      local took = os.clock() - before -- quadratic parsing would take seconds to minutes
      assert.is_true(took < 0.5, string.format("%.3f s for %s...", took, header:sub(1, 20)))
    end
  end)

  it("writes attributes in order, and each name once", function()
    with(nil)
    ngx.header["Set-Cookie"] = "other=1"
    assert.is_true(jar:set({ key = "route", value = "old" }))
    assert.is_true(jar:set({ key = "route", value = "v", samesite = "Lax", secure = true, httponly = true, path = "/p",
      domain = "d", max_age = 5, expires = "e" }))
    assert.same({ "other=1", "route=v; Expires=e; Max-Age=5; Domain=d; Path=/p; Secure; HttpOnly; SameSite=Lax" }, ngx.header["Set-Cookie"])
    assert.is_nil((jar:set({ key = "route" })))
  end)
end)
