local helper = require("spec.helper")
local cjson = require("cjson.safe")

after_each(helper.restore)

describe("deltas", function()
  local deltas, data
  before_each(function()
    helper.flush("configuration_data")
    deltas = helper.load("deltas", {})
    data = ngx.shared.configuration_data
  end)

  -- Stores all backends, as a POST does.
  local function post(version, text)
    local suspended = deltas.suspend()
    data:set("backends", text or '[{"name":"a"},{"name":"b"}]')
    deltas.forget(suspended)
    data:set("raw_backends_version", version)
    deltas.follow(version)
  end

  local function add(base, changed, removed)
    local ok, err, all_wanted = deltas.add('{"changed":' .. changed .. ',"removed":' .. removed .. "}", base)
    if ok then
      data:incr("raw_backends_version", 1)
    end
    return ok, err, all_wanted
  end

  local function names()
    local list = {}
    for _, backend in ipairs(cjson.decode(deltas.whole())) do
      list[#list + 1] = backend.name .. (backend.port or "")
    end
    return list
  end

  it("applies deltas to the full list and keeps its order", function()
    post(5)
    assert.equal('[{"name":"a"},{"name":"b"}]', deltas.whole())
    assert.is_true(add(5, '[{"name":"c"},{"name":"b","port":1}]', "[]"))
    assert.is_true(add(6, '[{"name":"b","port":2}]', '["a"]'))
    assert.same({ "b2", "c" }, names())
    assert.is_true(add(7, '[{"name":"a"}]', '["c"]'))
    assert.same({ "a", "b2" }, names())
    assert.is_true(add(8, "[]", '["a","b"]'))
    assert.equal("[]", deltas.whole())
  end)

  it("returns deltas to up-to-date workers, and nil to others", function()
    post(5)
    add(5, '[{"name":"c"}]', "[]")
    add(6, "[]", '["c"]')
    assert.same({ { changed = { { name = "c" } }, removed = {} }, { changed = {}, removed = { "c" } } }, deltas.between(5, 7))
    assert.same({ { changed = {}, removed = { "c" } } }, deltas.between(6, 7))
    assert.same({}, deltas.between(7, 7))
    assert.is_nil(deltas.between(4, 7))
    post(8)
    assert.is_nil(deltas.between(7, 8))
    assert.is_nil(deltas.between(6, 7))
  end)

  it("requests the full list if the base differs", function()
    local function refused(base)
      local ok, _, all_wanted = add(base, "[]", "[]")
      return not ok and all_wanted
    end
    assert.is_true(refused(5))
    post(5)
    assert.is_true(refused(4))
    assert.is_true(refused(6))
    assert.is_true(refused(nil))
    add(5, "[]", "[]")
    assert.is_true(refused(5))
    data:delete("backends_delta:6") -- evicted from a full dictionary
    assert.is_true(refused(6))
    post(7)
    data:delete("backends")
    assert.is_true(refused(7))
  end)

  it("rejects an invalid delta without requesting the full list", function()
    post(5)
    for _, text in ipairs({ "", "{", "[]", "7", '{"changed":[]}', '{"changed":1,"removed":[]}' }) do
      local ok, err, all_wanted = deltas.add(text, 5)
      assert.is_nil(ok)
      assert.is_string(err)
      assert.is_false(all_wanted)
    end
  end)

  it("returns the full list without deltas while it is replaced", function()
    post(5)
    add(5, '[{"name":"c"}]', "[]")
    deltas.suspend()
    data:set("backends", '[{"name":"new"}]')
    assert.equal('[{"name":"new"}]', deltas.whole())
    -- Another worker handles a POST while this one reads.
    post(5)
    add(5, '[{"name":"c"}]', "[]")
    local real = getmetatable(data).__index.get
    finally(function() data.get = nil end)
    data.get = function(self, key)
      data.get = key ~= "backends" and data.get or nil
      if key == "backends" then post(9, '[{"name":"newest"}]') end
      return real(self, key)
    end
    assert.equal('[{"name":"newest"}]', deltas.whole())
    data:set("backends", "no JSON")
    post(7, "no JSON")
    add(7, "[]", "[]")
    assert.equal("no JSON", deltas.whole())
  end)
end)
