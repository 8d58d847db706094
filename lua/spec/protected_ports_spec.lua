local helper = require("spec.helper")

after_each(helper.restore)

describe("protected ports", function()
  local protected_ports
  before_each(function()
    protected_ports = helper.load("protected_ports", { var = {} })
    protected_ports.add({ "10246", 10247 })
  end)

  it("are these ports of loopback, in any notation", function()
    for _, address in ipairs({
      "127.0.0.1", "127.9.8.7", "0.0.0.0", "0127.0.0.1", "::1", "[::1]", "::", "[::]", "0:0:0:0:0:0:0:1", "::0:1", "0::1",
      "::ffff:127.0.0.1", "[::FFFF:127.0.0.1]", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:1", "::ffff:0.0.0.0", "::ffff:0:0",
      "::127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "", "unix", "1:2", "1::2::3:4",
    }) do
      assert.is_true(protected_ports.includes(address, "10246"), address)
      assert.is_true(protected_ports.includes(address, 10247), address)
      assert.is_false(protected_ports.includes(address, "8080"), address)
    end
  end)

  it("do not include other addresses", function()
    for _, address in ipairs({
      "10.0.0.1", "128.0.0.1", "126.255.255.255", "1.127.0.0", "192.168.127.1", "fd00::1", "[fd00::1]", "1::", "1::1",
      "::ffff:10.0.0.1", "::ffff:a00:1", "::1:0:0:1", "fe80::127.0.0.1", "::fffe:127.0.0.1", "1:2:3:4:5:6:7:8",
    }) do
      assert.is_false(protected_ports.includes(address, "10246"), address)
    end
  end)

  it("recognize a proxied request by its headers", function()
    assert.is_false(protected_ports.is_proxied({ http_host = "a" }))
    for _, header in ipairs({ "http_x_forwarded_for", "http_x_real_ip", "http_x_sent_from" }) do
      assert.is_true(protected_ports.is_proxied({ [header] = "" }))
    end
  end)
end)
