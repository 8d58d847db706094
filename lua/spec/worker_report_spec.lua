local helper = require("spec.helper")
local cjson = require("cjson.safe")

after_each(helper.restore)

describe("worker_report", function()
  local function worker(pid)
    helper.flush("luaconfig")
    return helper.load("worker_report", { worker = { pid = function() return pid() end, count = function() return 2 end } })
  end

  it("reports the last note of each worker", function()
    local pid = 10
    local worker_report = worker(function() return pid end)
    assert.equal("[]", worker_report.tell(nil))
    worker_report.init()
    worker_report.note(nil)
    pid = 11
    worker_report.note(1732168800123)
    worker_report.init()
    worker_report.note(1732168800124)
    local got = cjson.decode(worker_report.tell(3))
    table.sort(got, function(a, b) return a.pid < b.pid end)
    assert.same({
      { pid = 10, generation = 1, workers = 2, backends = 0, certificates = 3 },
      { pid = 11, generation = 2, workers = 2, backends = 1732168800124, certificates = 3 },
    }, got)
  end)

  it("logs a failure to write a note", function()
    helper.with_ngx({ shared = helper.shared({ luaconfig = { incr = function() return 1 end,
      set = function() return nil, "no memory" end } }) })
    local worker_report = helper.fresh("worker_report")
    worker_report.init()
    spy.on(ngx, "log")
    worker_report.note(1)
    assert.spy(ngx.log).was_called_with(ngx.ERR, "could not record what this worker serves: ", "no memory")
  end)
end)
