-- configuration, certificate, monitor and lua_ingress, below what a request shows.

local original_ngx = ngx
local cjson = require("cjson.safe")

local function load(name, fields)
  fields.log = fields.log or function() end
  fields.print = fields.print or function() end
  _G.ngx = setmetatable(fields, { __index = original_ngx })
  package.loaded[name] = nil
  return require(name)
end

after_each(function()
  _G.ngx = original_ngx
end)

describe("configuration", function()
  local configuration, body, kept
  before_each(function()
    body, kept = nil, {}
    configuration = load("configuration", {
      var = { request_method = "POST", request_uri = "/configuration/backends", uri = "/configuration/backends" },
      req = { read_body = function() end, get_body_data = function() return body end, get_body_file = function() end },
      shared = setmetatable({
        configuration_data = setmetatable({ set = function(_, key, value) kept[key] = value return true end }, {
          __index = { get = function(_, key) return kept[key] end, incr = function() return 1 end } }),
      }, { __index = original_ngx.shared }),
    })
  end)

  it("says what was wrong", function()
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

  it("stores without looking", function()
    body = "not JSON"
    configuration.call()
    assert.equal(201, ngx.status)
    assert.equal("not JSON", configuration.get_backends_data())
    assert.is_number(configuration.get_raw_backends_last_synced_at())
    kept = {}
    assert.equal(1, configuration.get_raw_backends_last_synced_at())
  end)

  it("stores certificates and hosts", function()
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
end)

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

  it("says what was wrong", function()
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

  it("knows whether the host has one, once per request", function()
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
end)

describe("monitor", function()
  local sent, socket
  local function new()
    sent = {}
    socket = { connect = function() return true end, close = function() return true end,
      send = function(_, payload) sent[#sent + 1] = payload return true end }
    return load("monitor", { var = { host = "shop.example", status = "200", request_time = "0.1",
      upstream_response_time = "0.1, 0.2" }, timer = { every = function() return true end },
      socket = { tcp = function() return socket end } })
  end

  it("sends what was gathered, once", function()
    local monitor = new()
    spy.on(socket, "connect")
    monitor.init_worker(10000)
    for _ = 1, 3 do monitor.call() end
    assert.equal(3, #monitor.get_metrics_batch())
    monitor.flush(true)
    assert.equal(0, #sent)
    monitor.flush()
    monitor.flush()
    assert.equal(1, #sent)
    assert.equal(0, #monitor.get_metrics_batch())
    assert.spy(socket.connect).was_called_with(socket, "unix:/tmp/nginx/prometheus-nginx.socket")
    local record = cjson.decode(sent[1])[3]
    assert.same({ host = "shop.example", namespace = "-", ingress = "-", service = "-", canary = "-", path = "-",
      method = "-", status = "200", requestLength = -1, requestTime = 0.1, responseLength = -1, upstreamLatency = -1,
      upstreamHeaderTime = -1, upstreamResponseTime = -1, upstreamResponseLength = -1 }, record)
  end)

  it("drops what is too much", function()
    local monitor = new()
    monitor.set_metrics_max_batch_size(10) -- too small to be taken
    spy.on(ngx, "log")
    for _ = 1, 10002 do monitor.call() end
    assert.equal(10000, #monitor.get_metrics_batch())
    monitor.flush()
    assert.spy(ngx.log).was_called(1)
    assert.equal(10000, #cjson.decode(sent[1]))
  end)
end)

describe("lua_ingress", function()
  it("lets nobody seed chance a second time", function()
    local randomseed = math.randomseed
    finally(function() math.randomseed = randomseed end)
    local lua_ingress = load("lua_ingress", {})
    lua_ingress.init_worker()
    spy.on(ngx, "log")
    math.randomseed(100)
    assert.spy(ngx.log).was_called_with(ngx.WARN,
      ("ignoring math.randomseed(100) since PRNG is already seeded for worker %d"):format(ngx.worker.pid()))
  end)
end)

describe("tcp_udp_balancer", function()
  it("knows one algorithm and keeps endpoints when there are none", function()
    local balancer = load("tcp_udp_balancer", { var = {}, ctx = {} })
    local round_robin = require("balancer.round_robin")
    assert.equal(round_robin, balancer.get_implementation({ name = "tcp", ["load-balance"] = "ewma" }))
    local instance = { sync = function() end }
    setmetatable(instance, round_robin)
    stub(round_robin, "new", instance)
    stub(instance, "sync")
    local backend = { name = "tcp", endpoints = { { address = "fd00::1", port = "80" } } }
    balancer.sync_backend(backend)
    assert.equal("[fd00::1]", backend.endpoints[1].address)
    balancer.sync_backend({ name = "tcp", endpoints = {} })
    assert.stub(instance.sync).was_not_called()
    balancer.sync_backend(backend)
    assert.stub(instance.sync).was_called_with(instance, backend)
  end)
end)
