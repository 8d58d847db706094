local helper = require("spec.helper")
local load = helper.load

after_each(helper.restore)

describe("lua_ingress", function()
  it("ignores a second seed of the random numbers", function()
    local randomseed = math.randomseed
    finally(function() math.randomseed = randomseed end)
    local lua_ingress = load("lua_ingress", {})
    lua_ingress.init_worker()
    spy.on(ngx, "log")
    math.randomseed(100)
    assert.spy(ngx.log).was_called_with(ngx.WARN,
      ("ignoring math.randomseed(100) since PRNG is already seeded for worker %d"):format(ngx.worker.pid()))
  end)

  local function ask(var, config)
    local randomseed = math.randomseed
    var.scheme, var.request_uri, var.server_port = var.scheme or "http", var.request_uri or "/a/", var.server_port or "80"
    var.pass_server_port = "80"
    local location
    local lua_ingress = load("lua_ingress", { var = var, ctx = {}, redirect = function(url) location = url end, header = {} })
    math.randomseed = randomseed
    config = config or {}
    config.http_redirect_code, config.listen_ports = 308, { https = config.https or "443", ssl_proxy = "442" }
    lua_ingress.set_config(config)
    return lua_ingress, function() return location end
  end

  it("redirects to https", function()
    for url, var in pairs({
      ["https://a.example/a"] = { http_host = "a.example:80", force_ssl_redirect = "true" },
      ["https://a.example/a/"] = { http_host = "a.example", force_ssl_redirect = "true", preserve_trailing_slash = "true" },
      ["https://[::1]/a"] = { http_host = "[::1]:80", force_ssl_redirect = "true" },
      ["https://b.example/"] = { host = "b.example", force_ssl_redirect = "true", request_uri = "/", preserve_trailing_slash = "true" },
      ["https://a.example:443/a"] = { http_host = "a.example", force_ssl_redirect = "true", use_port_in_redirects = "true" },
    }) do
      local lua_ingress, location = ask(var)
      lua_ingress.rewrite()
      assert.equal(url, location())
    end
  end)

  it("does not redirect without a reason", function()
    for _, var in ipairs({
      { http_host = "a" }, { http_host = "a", scheme = "https", force_ssl_redirect = "true" },
      { http_host = "a", force_ssl_redirect = "true", force_no_ssl_redirect = "true" },
      { http_host = "a", host = "no.certificate.example", ssl_redirect = "true" },
    }) do
      local lua_ingress, location = ask(var)
      lua_ingress.rewrite()
      assert.is_nil(location())
    end
  end)

  it("trusts forwarded headers only if configured", function()
    local function var()
      return { http_host = "inner", http_x_forwarded_proto = "https", http_x_forwarded_port = "8443",
        http_x_forwarded_host = "outer, middle" }
    end
    local lua_ingress = ask(var())
    lua_ingress.rewrite()
    assert.same({ "http", "inner", "80" }, { ngx.var.pass_access_scheme, ngx.var.best_http_host, ngx.var.pass_port })
    lua_ingress = ask(var(), { use_forwarded_headers = true, https = "8443" })
    lua_ingress.rewrite()
    assert.same({ "https", "outer", "443" }, { ngx.var.pass_access_scheme, ngx.var.best_http_host, ngx.var.pass_port })
  end)

  it("uses port 443 of the PROXY protocol as https", function()
    local lua_ingress = ask({ http_host = "a", proxy_protocol_server_port = "443", force_ssl_redirect = "true" }, { use_proxy_protocol = true })
    lua_ingress.rewrite()
    assert.equal("https", ngx.var.pass_access_scheme)
  end)

  it("sends HSTS over https only", function()
    for value, config in pairs({
      ["max-age=7"] = { hsts = true, hsts_max_age = "7" },
      ["max-age=7; includeSubDomains; preload"] = { hsts = true, hsts_max_age = "7", hsts_include_subdomains = true, hsts_preload = true },
    }) do
      local lua_ingress = ask({ scheme = "https" }, config)
      lua_ingress.header()
      assert.equal(value, ngx.header["Strict-Transport-Security"])
      ngx.header, ngx.var.scheme = {}, "http"
      lua_ingress.header()
      assert.is_nil(ngx.header["Strict-Transport-Security"])
    end
  end)

  it("knows the URL at another host at the port of the PROXY protocol", function()
    local proxy, passthrough = { use_proxy_protocol = true }, { is_ssl_passthrough_enabled = true }
    for _, case in ipairs({
      { "https://www.example:443/a", { proxy_protocol_server_port = "443" }, proxy },
      { "http://www.example:8080/a", { proxy_protocol_server_port = "8080" }, proxy },
      { "http://www.example:80/a", { proxy_protocol_server_port = "" }, proxy },
      { "http://www.example:80/a", { proxy_protocol_server_port = "443" }, {} },
      { "https://www.example:443/a", { scheme = "https", server_port = "442" }, passthrough },
      { "https://www.example:442/a", { scheme = "https", server_port = "442" }, {} },
    }) do
      local lua_ingress = ask(case[2], case[3])
      assert.equal(case[1], lua_ingress.url_at_host("www.example"))
    end
  end)

  it("sets the chain of addresses once, and rejects it from clients", function()
    local function chain(var, internal)
      var.address_chain_header, var.full_x_forwarded_for = "X-The-Chain", "1.1.1.1, 2.2.2.2"
      local lua_ingress = ask(var)
      local set, status = {}, nil
      ngx.HTTP_BAD_REQUEST = 400
      ngx.exit = function(code) status = code end
      ngx.req = { is_internal = function() return internal end, set_header = function(name, value) set[name] = value end }
      lua_ingress.chain_addresses()
      return set, status
    end
    assert.same({ ["X-The-Chain"] = "1.1.1.1, 2.2.2.2" }, (chain({}, false)))
    assert.same({}, (chain({ http_x_the_chain = "1.1.1.1, 2.2.2.2" }, true)))
    local set, status = chain({ http_x_the_chain = "3.3.3.3" }, false)
    assert.same({}, set)
    assert.equal(400, status)
  end)

  it("knows the URL at another host", function()
    local lua_ingress = ask({ scheme = "https", server_port = "8443" })
    assert.equal("https://www.example:8443/a", lua_ingress.url_at_host("www.example"))
    lua_ingress = ask({ http_x_forwarded_proto = "https", http_x_forwarded_port = "443" }, { use_forwarded_headers = true })
    assert.equal("https://www.example:443/a", lua_ingress.url_at_host("www.example"))
  end)
end)
