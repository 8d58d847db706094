local helper = require("spec.helper")

after_each(helper.restore)

describe("tcp_udp_configuration", function()
  local configuration, kept, line, said
  before_each(function()
    kept, said = {}, nil
    configuration = helper.load("tcp_udp_configuration", {
      req = { socket = function()
        return {
          receiveuntil = function() return function() return line end end,
          send = function(_, text) said = text end,
        }
      end },
      shared = helper.shared({ tcp_udp_configuration_data = {
        set = function(_, key, value) kept[key] = value return true end,
        get = function(_, key) return kept[key] end,
        incr = function(_, key) kept[key] = (kept[key] or 0) + 1 return kept[key] end,
      } }),
    })
  end)

  it("stores a list, and increases its version", function()
    assert.equal(1, configuration.get_raw_backends_last_synced_at())
    assert.is_nil(configuration.get_backends_data())
    for n = 1, 2 do
      line = '[{"name":"tcp"}]'
      configuration.call()
      assert.equal(line, configuration.get_backends_data())
      assert.equal(n, configuration.get_raw_backends_version())
      assert.is_true(configuration.get_raw_backends_last_synced_at() > 1)
    end
    assert.is_nil(said)
  end)

  it("ignores an empty line, which only checks the port", function()
    line = ""
    configuration.call()
    assert.is_nil(said)
    assert.same({}, kept)
  end)

  it("reports errors in a line", function()
    line = "[{"
    configuration.call()
    assert.matches("^error: could not parse backends data", said)
    line = "7"
    configuration.call()
    assert.equal("error: could not parse backends data: not a list", said)
    assert.same({}, kept)
    line = "[]"
    ngx.shared.tcp_udp_configuration_data.set = function() return false, "no memory" end
    configuration.call()
    assert.equal("error: could not store backends data: no memory", said)
    line = nil
    configuration.call()
    assert.matches("^error: ", said)
  end)

  it("keeps the old list if a new one does not fit into the dictionary", function()
    helper.flush("tcp_udp_configuration_data")
    configuration = helper.load("tcp_udp_configuration", { req = { socket = function()
      return {
        receiveuntil = function() return function() return line end end,
        send = function(_, text) said = text end,
      }
    end } })
    line = '[{"name":"tcp"}]'
    configuration.call()
    line = '["' .. ("x"):rep(8 * 1024 * 1024) .. '"]'
    configuration.call()
    assert.equal("error: could not store backends data: no memory", said)
    assert.equal('[{"name":"tcp"}]', configuration.get_backends_data())
    helper.flush("tcp_udp_configuration_data")
  end)
end)
