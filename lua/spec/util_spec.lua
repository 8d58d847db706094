local helper = require("spec.helper")

after_each(helper.restore)

describe("util", function()
  it("evaluates values in the syntax of nginx.conf", function()
    helper.with_ngx({ var = { remote_addr = "192.168.1.1", ["1"] = "one", request_uri = "/a" } })
    local util = helper.fresh("util")
    for text, want in pairs({
      [""] = "", plain = "plain", ["$remote_addr"] = "192.168.1.1", ["${remote_addr}"] = "192.168.1.1",
      ["a${remote_addr}b$request_uri"] = "a192.168.1.1b/a", ["$1-$2"] = "one-", ["$nothing"] = "",
      ["$remote_addr$request_uri"] = "192.168.1.1/a", ["5$"] = "5$", ["$remote_addr-x"] = "192.168.1.1-x",
    }) do
      assert.equal(want, util.generate_var_value(assert(util.parse_complex_value(text))), text)
    end
    local tokens, err = util.parse_complex_value("${open")
    assert.is_nil(tokens)
    assert.is_string(err)
  end)

  it("compares lists of endpoints", function()
    local util = helper.fresh("util")
    local a, b, c = { address = "a", port = "1" }, { address = "b", port = "2" }, { address = "c", port = "3" }
    local added, removed = util.diff_endpoints({ a, b }, { b, c })
    assert.same({ "c:3" }, added)
    assert.same({ "a:1" }, removed)
    assert.same({ ["a:1"] = 1, ["b:2"] = 1 }, util.get_nodes({ a, b, a }))
    added, removed = util.diff_endpoints({ {}, a, { port = "9" } }, { { address = "d" }, { address = "e", port = 5 } })
    table.sort(added)
    assert.same({ { "d:nil", "e:5" }, { "a:1" } }, { added, removed })
    added, removed = util.diff_endpoints(nil, nil)
    assert.same({ {}, {} }, { added, removed })
  end)

  it("copies, compares and counts", function()
    local util = helper.fresh("util")
    local deep = { a = { b = { 1, 2 } }, c = "x" }
    local copy = util.deepcopy(deep)
    assert.is_true(util.deep_compare(deep, copy))
    copy.a.b[2] = 3
    assert.is_false(util.deep_compare(deep, copy))
    assert.equal(2, deep.a.b[2])
    assert.equal(2, util.tablelength(deep))
    assert.is_true(util.is_blank(nil))
    assert.is_true(util.is_blank(""))
    assert.is_false(util.is_blank("x"))
    assert.is_true(util.string_to_bool("true"))
    assert.is_false(util.string_to_bool("no"))
    assert.equal("a%b_c%d", util.replace_special_char("a.b_c.d", ".", "%"))
  end)
end)
