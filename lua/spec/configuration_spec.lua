local helper = require("spec.helper")
local load = helper.load
local cjson = require("cjson.safe")

after_each(helper.restore)

describe("configuration", function()
  local configuration, body, kept
  before_each(function()
    body, kept = nil, {}
    configuration = load("configuration", {
      var = { request_method = "POST", request_uri = "/configuration/backends", uri = "/configuration/backends" },
      req = { read_body = function() end, get_body_data = function() return body end, get_body_file = function() end },
      shared = helper.shared({ configuration_data = {
        set = function(_, key, value) kept[key] = value return true end,
        get = function(_, key) return kept[key] end,
        incr = function() return 7 end,
        safe_set = function(_, key, value) kept[key] = value return true end,
      } }),
    })
  end)

  it("reports errors", function()
    spy.on(ngx, "log")
    configuration.call()
    assert.spy(ngx.log).was_called_with(ngx.ERR, "dynamic-configuration: unable to read valid request body")
    assert.equal(400, ngx.status)
    body = "[]"
    ngx.shared.configuration_data.set = function() return false, "no memory" end
    configuration.call()
    assert.spy(ngx.log).was_called_with(ngx.ERR, "dynamic-configuration: error updating configuration: no memory")
    assert.equal(400, ngx.status)
  end)

  it("stores backends without parsing them", function()
    body = "not JSON"
    configuration.call()
    assert.equal(201, ngx.status)
    assert.equal("not JSON", configuration.get_backends_data())
    assert.is_number(configuration.get_raw_backends_last_synced_at())
    kept = {}
    assert.equal(1, configuration.get_raw_backends_last_synced_at())
  end)

  it("stores certificates and hosts", function()
    helper.flush("certificate_data", "certificate_servers", "ocsp_response_cache")
    body = cjson.encode({ servers = { ["a.example"] = "uid", ["b.example"] = "-1" }, certificates = { uid = "PEM 1" } })
    ngx.shared.certificate_servers:set("b.example", "uid")
    ngx.shared.ocsp_response_cache:set("uid", "response")
    configuration.handle_servers()
    assert.equal(201, ngx.status)
    assert.equal("uid", ngx.shared.certificate_servers:get("a.example"))
    assert.is_nil(ngx.shared.certificate_servers:get("b.example"))
    assert.equal("response", ngx.shared.ocsp_response_cache:get("uid"))
    body = cjson.encode({ certificates = { uid = "PEM 2" } })
    configuration.handle_servers()
    assert.is_nil(ngx.shared.ocsp_response_cache:get("uid"))

    spy.on(ngx, "log")
    local data = ngx.shared.certificate_data
    data.set = function() return true, nil, true end
    configuration.handle_servers()
    assert.spy(ngx.log).was_called_with(ngx.WARN,
      "certificate_data dictionary is full, LRU entry has been removed to store uid")
    data.set = function() return false, "no memory" end
    configuration.handle_servers()
    data.set = nil
    assert.equal(500, ngx.status)
  end)

  local function get(uri, path)
    ngx.var.request_method, ngx.var.request_uri, ngx.var.uri = "GET", uri, path or uri
    local printed
    ngx.print = function(text) printed = text end
    configuration.call()
    return ngx.status, printed
  end

  it("reads a body from its temporary file", function()
    local path = os.tmpname()
    finally(function() os.remove(path) end)
    local file = assert(io.open(path, "w"))
    file:write("[1]")
    file:close()
    ngx.req.get_body_file = function() return path end
    configuration.call()
    assert.equal(201, ngx.status)
    assert.equal("[1]", kept.backends)
    ngx.req.get_body_file = function() return path .. ".none" end
    configuration.call()
    assert.equal(400, ngx.status)
  end)

  it("keeps the old data when it runs out of memory", function()
    kept.backends, body = "old", "huge"
    ngx.shared.configuration_data.set = function(_, key, value)
      kept[key] = nil
      if value == "huge" then return false, "no memory" end
      kept[key] = value
      return true
    end
    configuration.call()
    assert.equal(400, ngx.status)
    assert.equal("old", kept.backends)
  end)

  it("sends versions only if they are enabled", function()
    spy.on(ngx, "print")
    body = "[]"
    configuration.call()
    assert.spy(ngx.print).was_not_called()
    configuration.worker_report = { tell = function(certificates) return "certificates " .. tostring(certificates) end }
    configuration.call()
    assert.spy(ngx.print).was_called_with("7")
    assert.same({ 200, "certificates nil" }, { get("/configuration/workers") })
    configuration.worker_report = nil
    assert.same({ 404, "Not found!" }, { get("/configuration/workers") })
  end)

  it("accepts only its own paths and methods", function()
    kept.backends, kept.general = "[2]", "g"
    assert.same({ 200, "[2]" }, { get("/configuration/backends") })
    assert.same({ 200, "g" }, { get("/configuration/general") })
    assert.same({ 400, "Only POST requests are allowed!" }, { get("/configuration/servers") })
    assert.same({ 404, "Not found!" }, { get("/configuration/backends?x", "/configuration/backends") })
    assert.same({ 404, "Not found!" }, { get("/configuration/backends/delta?base=1", "/configuration/backends/delta") })
    ngx.var.request_method = "PUT"
    configuration.call()
    assert.equal(400, ngx.status)
  end)

  it("stores general data, and reports errors", function()
    ngx.var.request_uri, body = "/configuration/general", "text"
    configuration.call()
    assert.same({ 201, "text" }, { ngx.status, configuration.get_general_data() })
    ngx.shared.configuration_data.safe_set = function() return false, "no memory" end
    spy.on(ngx, "log")
    configuration.call()
    assert.equal(500, ngx.status)
    assert.spy(ngx.log).was_called_with(ngx.ERR, "dynamic-configuration: error updating general config: no memory")
    body = nil
    configuration.call()
    assert.equal(400, ngx.status)
  end)

  it("returns the certificate of a host", function()
    helper.flush("certificate_servers", "certificate_data")
    ngx.shared.certificate_servers:set("a.example", "uid")
    ngx.req.get_uri_args = function() return { hostname = "a.example" } end
    assert.same({ 404, "No key associated with this hostname." }, { get("/configuration/certs?hostname=a.example", "/configuration/certs") })
    ngx.shared.certificate_data:set("uid", "PEM")
    assert.same({ 200, "PEM" }, { get("/configuration/certs?hostname=a.example", "/configuration/certs") })
    for _, args in ipairs({ {}, { hostname = "" }, { hostname = true } }) do
      ngx.req.get_uri_args = function() return args end
      assert.same({ 400, "Hostname must be specified." }, { get("/configuration/certs", "/configuration/certs") })
    end
  end)

  it("rejects servers that are not an object", function()
    for _, text in ipairs({ "", "{", "7" }) do
      body = text
      configuration.handle_servers()
      assert.equal(400, ngx.status)
    end
  end)
end)
