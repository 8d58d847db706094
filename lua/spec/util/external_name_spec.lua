local helper = require("spec.helper")

after_each(helper.restore)

describe("util.external_name", function()
  local external_name, dns
  local service = { spec = { type = "ExternalName" } }

  before_each(function()
    helper.with_ngx({ log = function() end })
    dns = { lookup = function(host) return { host } end } -- as if no name resolves
    package.loaded["util.dns"] = dns
    external_name = helper.fresh("util.external_name")
  end)
  after_each(function()
    package.loaded["util.dns"], package.loaded["util.external_name"] = nil, nil
  end)

  it("recognizes a backend by its service", function()
    assert.is_true(external_name.is({ service = service }))
    for _, other in ipairs({ {}, { service = "db" }, { service = {} }, { service = { spec = {} } },
      { service = { spec = { type = "ClusterIP" } } } }) do
      assert.is_false(external_name.is(other))
    end
  end)

  it("replaces a name with all its addresses", function()
    dns.lookup = function(host) return host == "a.example" and { "10.0.0.1", "fd00::1" } or { "10.0.0.2" } end
    local backend = { name = "db", service = service, endpoints = {
      { address = "a.example", port = "80" }, { address = "b.example", port = "81" } } }
    local resolved = external_name.resolve(backend)
    assert.same({ name = "db", service = service, endpoints = { { address = "10.0.0.1", port = "80" },
      { address = "fd00::1", port = "80" }, { address = "10.0.0.2", port = "81" } } }, resolved)
    assert.equal("a.example", backend.endpoints[1].address) -- unchanged for the next poll
  end)

  it("leaves out names that do not resolve", function()
    assert.same({ name = "db", endpoints = {} }, external_name.resolve({ name = "db", endpoints = { { address = "c.example", port = "80" } } }))
    assert.same({ name = "db", endpoints = {} }, external_name.resolve({ name = "db" }))
  end)
end)
