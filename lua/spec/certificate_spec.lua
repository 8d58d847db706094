local helper = require("spec.helper")
local load = helper.load

after_each(helper.restore)

describe("certificate", function()
  local ssl = require("ngx.ssl")
  local certificate
  before_each(function()
    certificate = load("certificate", { exit = function() end, ctx = {}, var = { host = "shop.example" } })
    ngx.shared.certificate_servers:flush_all()
    ngx.shared.certificate_data:flush_all()
    stub(ssl, "clear_certs", true)
    stub(ssl, "set_der_cert", true)
    stub(ssl, "set_der_priv_key", true)
  end)

  it("logs errors", function()
    spy.on(ngx, "log")
    spy.on(ngx, "exit")
    stub(ssl, "server_name", nil, "crazy hostname error")
    certificate.call()
    assert.spy(ngx.log).was_called_with(ngx.ERR, "error while obtaining hostname: crazy hostname error")
    assert.spy(ngx.exit).was_not_called()

    ssl.server_name:revert()
    stub(ssl, "server_name", "shop.example")
    ngx.shared.certificate_servers:set("shop.example", "uid")
    ngx.shared.certificate_data:set("uid", "no PEM")
    certificate.call()
    assert.spy(ngx.log).was_called_with(ngx.ERR,
      "failed to convert certificate chain from PEM to DER: PEM_read_bio_X509_AUX() failed")
    assert.spy(ngx.exit).was_called_with(ngx.ERROR)
  end)

  it("looks up once per request whether the host has one", function()
    assert.is_false(certificate.configured_for_current_request())
    ngx.shared.certificate_servers:set("shop.example", "uid")
    assert.is_false(certificate.configured_for_current_request())
    ngx.ctx = {}
    assert.is_true(certificate.configured_for_current_request())
    assert.is_true(ngx.ctx.cert_configured_for_current_request)
    ngx.ctx, ngx.var = {}, { host = "a.b.example" }
    ngx.shared.certificate_servers:set("*.b.example", "uid")
    assert.is_true(certificate.configured_for_current_request())
  end)

  it("tries the host, its wildcard, and the default", function()
    local shown
    stub(ssl, "cert_pem_to_der", function(pem) shown = pem return pem end)
    stub(ssl, "priv_key_pem_to_der", function(pem) return pem end)
    for host, uid in pairs({ ["shop.example"] = "a", ["*.wild.example"] = "b", _ = "c" }) do
      ngx.shared.certificate_servers:set(host, uid)
      ngx.shared.certificate_data:set(uid, "PEM of " .. host)
    end
    for name, want in pairs({
      ["shop.example"] = "shop.example", ["SHOP.example."] = "shop.example", ["x.wild.example"] = "*.wild.example",
      ["a.x.wild.example"] = "_", ["wild.example"] = "_", [""] = "_", ["."] = "_",
    }) do
      stub(ssl, "server_name", name)
      certificate.call()
      ssl.server_name:revert()
      assert.equal("PEM of " .. want, shown, name)
    end
    stub(ssl, "server_name", nil)
    certificate.call()
    assert.equal("PEM of _", shown)
  end)

  it("sets the default one, loaded once, if there is none", function()
    stub(ssl, "parse_pem_cert", "chain")
    stub(ssl, "parse_pem_priv_key", "key")
    stub(ssl, "set_cert", true)
    stub(ssl, "set_priv_key", true)
    stub(ssl, "server_name", "other.example")
    certificate.load_default("spec/certificate_spec.lua")
    certificate.call()
    certificate.call()
    assert.stub(ssl.set_cert).was_called_with("chain")
    assert.stub(ssl.set_priv_key).was_called_with("key")
    assert.stub(ssl.parse_pem_cert).was_called(1)

    spy.on(ngx, "log")
    spy.on(ngx, "exit")
    ssl.set_priv_key:revert()
    stub(ssl, "set_priv_key", nil, "key mismatch")
    certificate.call()
    assert.spy(ngx.log).was_called_with(ngx.ERR, "failed to set the default certificate: ", "key mismatch")
    assert.spy(ngx.exit).was_called_with(ngx.ERROR)
  end)

  it("logs why the default one cannot be loaded", function()
    spy.on(ngx, "log")
    certificate.load_default("/no/such/file")
    assert.spy(ngx.log).was_called_with(ngx.ERR, "the default certificate, ", "/no/such/file", ", cannot be loaded: ",
      "/no/such/file: No such file or directory")
  end)

  it("keeps nginx's own if there is none", function()
    stub(ssl, "server_name", "other.example")
    spy.on(ngx, "exit")
    certificate.call()
    assert.stub(ssl.clear_certs).was_not_called()
    assert.spy(ngx.exit).was_not_called()
  end)

  it("staples only if enabled", function()
    local stapling = require("certificate.stapling")
    stub(stapling, "staple")
    stub(ssl, "cert_pem_to_der", "chain")
    stub(ssl, "priv_key_pem_to_der", "key")
    stub(ssl, "server_name", "shop.example")
    ngx.shared.certificate_servers:set("shop.example", "uid")
    ngx.shared.certificate_data:set("uid", "PEM")
    certificate.call()
    assert.stub(stapling.staple).was_not_called()
    certificate.is_ocsp_stapling_enabled = true
    certificate.call()
    assert.stub(stapling.staple).was_called_with("uid", "chain")
  end)
end)
