local helper = require("spec.helper")
local load = helper.load
local cjson = require("cjson.safe")

after_each(helper.restore)

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

  it("sends each record once", function()
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

  it("drops records beyond the limit", function()
    local monitor = new()
    monitor.set_metrics_max_batch_size(10) -- ignored: less than the default
    spy.on(ngx, "log")
    for _ = 1, 10002 do monitor.call() end
    assert.equal(10000, #monitor.get_metrics_batch())
    monitor.flush()
    assert.spy(ngx.log).was_called(1)
    assert.equal(10000, #cjson.decode(sent[1]))
  end)

  it("logs a failed connection, and drops the records", function()
    local monitor = new()
    monitor.call()
    socket.connect = function() return nil, "refused" end
    spy.on(ngx, "log")
    monitor.flush()
    assert.spy(ngx.log).was_called_with(ngx.ERR,
      "error while sending metrics: connecting to unix:/tmp/nginx/prometheus-nginx.socket: refused")
    assert.equal(0, #monitor.get_metrics_batch())
  end)

  it("sends to the configured socket", function()
    local monitor = new()
    monitor.init_worker(nil, "unix:/elsewhere")
    spy.on(socket, "connect")
    monitor.call()
    monitor.flush()
    assert.spy(socket.connect).was_called_with(socket, "unix:/elsewhere")
  end)

  it("accepts only a larger batch size", function()
    local monitor = new()
    monitor.set_metrics_max_batch_size(10001)
    for _ = 1, 10002 do monitor.call() end
    assert.equal(10001, #monitor.get_metrics_batch())
  end)
end)
