describe("util.split", function()
  local split = require("util.split")
  it("splits nginx's values of several attempts", function()
    for _, text in ipairs({ "a:1, b:2", "a:1 : b:2", "a:1,b:2", "a:1|b:2" }) do
      assert.equal("a:1", split.get_first_value(text))
      assert.equal("b:2", split.get_last_value(text))
    end
    assert.is_nil(split.get_last_value(nil))
    assert.is_nil(split.get_last_value(""))
    assert.same({ { "[::1]", "80" }, { "b", "2" } }, split.split_upstream_addr("[::1]:80, b:2"))
  end)
  it("splits a list", function()
    local parts, n = split.split_string("one,two", ",")
    assert.same({ "one", "two" }, parts)
    assert.equal(2, n)
    for _, case in ipairs({ { nil, "," }, { "", "," }, { "one,two", nil }, { "one,two", "" }, { nil, nil } }) do
      parts, n = split.split_string(case[1], case[2])
      assert.same({}, parts)
      assert.equal(0, n)
    end
  end)
end)
