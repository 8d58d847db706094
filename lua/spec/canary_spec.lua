local canary = require("canary")

describe("canary", function()
  local function chosen(policy, var)
    return (canary.chosen(policy, var))
  end
  local everybody, nobody = { weight = 100 }, { weight = 0 }

  it("uses the weight if the policy has no header or cookie", function()
    for _ = 1, 100 do
      assert.is_true(chosen(everybody, {}))
      assert.is_false(chosen(nobody, {}))
    end
    assert.is_true(chosen({ weight = 1000, weightTotal = 1000 }, {}))
    assert.is_true(chosen({ weight = 100, weightTotal = 10 }, {})) -- a total below 100 is ignored
    local n = 0
    for _ = 1, 20000 do
      n = n + (chosen({ weight = 100, weightTotal = 1000 }, {}) and 1 or 0)
    end
    assert.is_true(n > 1700 and n < 2300, n .. " of 20000 at a tenth")
  end)

  it("applies the header before the cookie, and the cookie before the weight", function()
    for _, case in ipairs({
      { "always", nil, true }, { "never", nil, false }, { "always", "never", true }, { "never", "always", false },
      { "other", "always", true }, { "other", "never", false }, { "other", "other", true }, { nil, "never", false },
    }) do
      local policy = { header = "X-My-Canary", cookie = "try", weight = 100 }
      assert.equal(case[3], chosen(policy, { http_X_My_Canary = case[1], cookie_try = case[2] }))
    end
  end)

  it("keeps the case of configured names in variables", function()
    local asked = {}
    local var = setmetatable({}, { __index = function(_, name) asked[#asked + 1] = name end })
    chosen({ header = "X-My-Canary_B", cookie = "Try-It", weight = 0 }, var)
    assert.same({ "http_X_My_Canary_B", "cookie_Try-It" }, asked)
  end)

  it("compares the header with a value, or matches it with a pattern", function()
    local value = { header = "X", headerValue = "yes", weight = 0 }
    assert.is_true(chosen(value, { http_X = "yes" }))
    assert.is_false(chosen(value, { http_X = "always" }))
    local pattern = { header = "X", headerPattern = "^v[0-9]+$", weight = 0 }
    assert.is_true(chosen(pattern, { http_X = "v12" }))
    assert.is_false(chosen(pattern, { http_X = "always" }))
    pattern.headerValue = "yes" -- takes precedence over the pattern
    assert.is_false(chosen(pattern, { http_X = "v12" }))
  end)

  it("selects no request by an invalid pattern, and reports the error", function()
    local choice, err = canary.chosen({ header = "X", headerPattern = "[", weight = 100 }, { http_X = "a" })
    assert.is_false(choice)
    assert.matches("^error when matching canary%-by%-header%-pattern: '%[', error: ", err)
  end)
end)
