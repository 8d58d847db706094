-- Tests our substitute for resty.lock.

local lock = require("fallback.resty.lock")

describe("fallback.resty.lock", function()
  it("excludes others until it is unlocked or expires", function()
    ngx.shared.balancer_ewma_locks:flush_all()
    local one = assert(lock:new("balancer_ewma_locks", { timeout = 0, exptime = 0.1 }))
    local other = assert(lock:new("balancer_ewma_locks", { timeout = 0, exptime = 0.1 }))
    assert.is_number(one:lock("key"))
    assert.same({ nil, "timeout" }, { other:lock("key") })
    assert.is_number(other:lock("another"))
    assert.equal(1, one:unlock())
    assert.is_nil((one:unlock()))
    assert.equal(1, other:unlock())
    assert.is_number(other:lock("key"))
  end)

  it("names the missing dictionary", function()
    local none, err = lock:new("no_such_dictionary")
    assert.is_nil(none)
    assert.is_string(err)
  end)
end)
