local helper = require("spec.helper")
local load = helper.load
local endpoints = helper.endpoints

after_each(helper.restore)

describe("balancer.sticky", function()
  local cookie = require("resty.cookie")
  for _, mode in ipairs({ "sticky_balanced", "sticky_persistent" }) do
    local function backend()
      return { name = "shop", endpoints = endpoints(3), sessionAffinityConfig = { name = "cookie",
        cookieSessionAffinity = { name = "route", locations = { ["test.com"] = { "/" } } } } }
    end

    local payload, given
    local function instance_of(b)
      local sticky = load("balancer." .. mode, { var = { location_path = "/", host = "test.com" } })
      stub(cookie, "new", function()
        return { get = function() return given end, set = function(_, p) payload = p return true end }
      end)
      payload = nil
      return sticky:new(b)
    end

    it(mode .. " sets the configured attributes", function()
      given = false
      local instance = instance_of(backend())
      assert.equal("route", instance:cookie_name())
      assert.equal(ngx.md5(ngx.md5("shop") .. "shop"), instance.backend_key)
      instance:set_cookie("key")
      assert.same({ key = "route", value = "key|" .. instance.backend_key, path = "/", httponly = true, secure = false }, payload)
      local b = backend()
      b.sessionAffinityConfig.cookieSessionAffinity.name = nil
      assert.equal("route", instance_of(b):cookie_name())
    end)

    it(mode .. " reads cookies of both formats", function()
      local instance = instance_of(backend())
      given = "old"
      assert.same({ upstream_key = "old" }, instance:get_cookie_parsed())
      assert.is_false(instance:is_affinitized())
      given = "new|" .. instance.backend_key
      assert.same({ upstream_key = "new", backend_key = instance.backend_key }, instance:get_cookie_parsed())
      assert.equal("new", instance:get_cookie())
      assert.is_true(instance:is_affinitized())
      given = "new|another"
      assert.is_false(instance:is_affinitized())
    end)

    it(mode .. " stays with the only endpoint when it fails, and warns", function()
      local b = backend()
      b.endpoints = endpoints(1)
      b.sessionAffinityConfig.cookieSessionAffinity.change_on_failure = true
      given = false
      local instance = instance_of(b)
      local only = instance:balance()
      given = payload.value
      payload = nil
      instance.get_last_failure = function() return "failed" end
      ngx.var.upstream_addr = only
      spy.on(ngx, "log")
      assert.equal(only, instance:balance())
      assert.is_nil(payload)
      assert.spy(ngx.log).was_called_with(ngx.WARN, "failed to get new upstream; using upstream ", only)
    end)

    it(mode .. " changes on failure only if configured", function()
      for _, change in ipairs({ false, true }) do
        local b = backend()
        b.sessionAffinityConfig.cookieSessionAffinity.change_on_failure = change
        given = false
        local instance = instance_of(b)
        local first = instance:balance()
        given = payload.value
        payload = nil
        instance.get_last_failure = function() return "failed" end
        ngx.var.upstream_addr = first
        assert.equal(change, instance:balance() ~= first)
        assert.equal(change, payload ~= nil)
      end
    end)
  end
end)
