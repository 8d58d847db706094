local helper = require("spec.helper")

after_each(helper.restore)

describe("certificate.stapling", function()
  local ocsp = require("ngx.ocsp")
  local stapling, timers, now

  before_each(function()
    now, timers = 1000, {}
    helper.flush("ocsp_response_cache")
    helper.with_ngx({ now = function() return now end,
      timer = { at = function(_, f, ...) timers[#timers + 1] = { f, ... } return true end } })
    stapling = helper.fresh("certificate.stapling")
    stub(ocsp, "set_ocsp_status_resp", true)
  end)

  local function run()
    for _, timer in ipairs(timers) do
      timer[1](false, unpack(timer, 2))
    end
    timers = {}
  end

  it("serves cached responses, and fetches missing ones", function()
    stapling.staple("uid", "chain")
    assert.stub(ocsp.set_ocsp_status_resp).was_not_called()
    assert.equal(1, #timers)
    assert.same({ "uid", "chain" }, { timers[1][2], timers[1][3] })
    ngx.shared.ocsp_response_cache:set("uid", "response")
    stapling.staple("uid", "chain")
    assert.stub(ocsp.set_ocsp_status_resp).was_called_with("response")
    assert.equal(1, #timers)
  end)

  it("retries a failed responder after a while, not at every handshake", function()
    stub(ocsp, "get_ocsp_responder_from_der_chain", nil, "broken chain")
    spy.on(ngx, "log")
    stapling.staple("uid", "chain")
    run()
    assert.spy(ngx.log).was_called_with(ngx.ERR, "OCSP response of certificate uid: broken chain")
    stapling.staple("uid", "chain")
    assert.equal(0, #timers)
    now = now + 11
    stapling.staple("uid", "chain")
    assert.equal(1, #timers)
    stapling.staple("another", "chain")
    assert.equal(2, #timers)
  end)

  it("does not retry for a certificate without a responder", function()
    stub(ocsp, "get_ocsp_responder_from_der_chain", nil)
    stapling.staple("uid", "chain")
    run()
    now = now + 3600
    stapling.staple("uid", "chain")
    assert.equal(0, #timers)
  end)

  it("starts nothing in a worker that is exiting", function()
    stub(ocsp, "get_ocsp_responder_from_der_chain")
    stapling.staple("uid", "chain")
    timers[1][1](true, "uid", "chain")
    assert.stub(ocsp.get_ocsp_responder_from_der_chain).was_not_called()
  end)
end)
