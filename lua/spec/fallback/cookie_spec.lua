-- The stand-in for resty.cookie, whether or not nginx has the real one.

local helper = require("spec.helper")

after_each(helper.restore)

describe("fallback.resty.cookie", function()
  local jar
  local function with(header)
    helper.with_ngx({ var = { http_cookie = header }, header = {} })
    jar = helper.fresh("fallback.resty.cookie"):new()
  end

  it("reads the cookie of a name, not of one that ends alike", function()
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

  it("writes attributes in their order, and a name once", function()
    with(nil)
    ngx.header["Set-Cookie"] = "other=1"
    assert.is_true(jar:set({ key = "route", value = "old" }))
    assert.is_true(jar:set({ key = "route", value = "v", samesite = "Lax", secure = true, httponly = true, path = "/p",
      domain = "d", max_age = 5, expires = "e" }))
    assert.same({ "other=1", "route=v; Expires=e; Max-Age=5; Domain=d; Path=/p; Secure; HttpOnly; SameSite=Lax" }, ngx.header["Set-Cookie"])
    assert.is_nil((jar:set({ key = "route" })))
  end)
end)
