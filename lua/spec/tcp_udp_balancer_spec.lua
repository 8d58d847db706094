local helper = require("spec.helper")
local load = helper.load

after_each(helper.restore)

describe("tcp_udp_balancer", function()
  it("supports one algorithm, and keeps the old endpoints if a backend has none", function()
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

  it("applies new backends, and chooses a peer", function()
    local peers, text = {}, nil
    stub(require("ngx.balancer"), "set_current_peer", function(peer) peers[#peers + 1] = peer return true end)
    stub(require("ngx.balancer"), "set_more_tries", true)
    local timers = {}
    local version = 1
    local balancer = load("tcp_udp_balancer", { var = { proxy_upstream_name = "tcp" }, ctx = {},
      timer = { at = function() return true end, every = function(_, f) timers[#timers + 1] = f return true end },
      shared = helper.shared({ tcp_udp_configuration_data = { get = function(_, key)
        return ({ backends = text, raw_backends_version = version })[key]
      end } }) })
    local function sync()
      version = version + 1
      timers[1]()
    end
    text = '[{"name":"tcp","endpoints":[{"address":"10.0.0.1","port":"53"}]}]'
    balancer.init_worker()
    balancer.balance()
    assert.same({ "10.0.0.1:53" }, peers)

    text = "[" -- invalid JSON changes nothing
    sync()
    text = '[{"name":"tcp","endpoints":[]}]' -- an empty list of endpoints changes nothing
    sync()
    ngx.ctx = {}
    balancer.balance()
    balancer.log()
    assert.same({ "10.0.0.1:53", "10.0.0.1:53" }, peers)

    text = "[]"
    sync()
    ngx.ctx = {}
    balancer.balance()
    assert.equal(2, #peers)
  end)

  it("never proxies to the status port", function()
    package.loaded.tcp_udp_configuration = nil
    require("tcp_udp_configuration").prohibited_localhost_port = "10246"
    stub(require("ngx.balancer"), "set_current_peer", true)
    helper.with_ngx({ var = { proxy_upstream_name = "tcp" }, ctx = {} })
    local balancer = helper.fresh("tcp_udp_balancer")
    balancer.sync_backend({ name = "tcp", endpoints = { { address = "127.0.0.1", port = "10246" } } })
    balancer.balance()
    assert.stub(require("ngx.balancer").set_current_peer).was_not_called()
  end)
end)
