describe("util.same_site", function()
  local compatible = require("util.same_site").same_site_none_compatible
  local mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_14_6) AppleWebKit/605.1.15 "
  for agent, want in pairs({
    ["Chrome/4"] = false, ["Chrome/51.0"] = false, ["Chrome/66.0.3359"] = false, ["Chrome/67.0"] = false,
    ["Chrome/80.0"] = true, ["Chrome/400.0"] = true, ["curl/8"] = true,
    ["(iPhone; CPU iPhone OS 12_4 like Mac OS X)"] = false, ["(iPhone; CPU iPhone OS 13_4)"] = true,
    ["(iPad; CPU OS 12_4 like Mac OS X)"] = false, ["(iPad; CPU OS 13_3)"] = true,
    [mac .. "Version/12.1 Safari/605.1.15"] = false, [mac .. "Chrome/80.0 Safari/537.36"] = true,
  }) do
    it("recognizes " .. agent, function() assert.equal(want, compatible(agent)) end)
  end
  it("accepts a browser without a User-Agent", function() assert.is_true(compatible(nil)) end)
end)
