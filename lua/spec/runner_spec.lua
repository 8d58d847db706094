-- Tests the runner itself, especially that its assertions can fail.

describe("assert", function()
  for name, bad in pairs({
    equal = function() assert.are.equal(1, 2) end,
    not_equal = function() assert.are_not.equal(1, 1) end,
    same = function() assert.same({ 1, { 2 } }, { 1, { 3 } }) end,
    is_nil = function() assert.is_nil(1) end,
    is_not_nil = function() assert.is_not_nil(nil) end,
    is_true = function() assert.is_true(1) end,
    truthy = function() assert.is.truthy(false) end,
    has_error = function() assert.has_error(function() end) end,
    has_no_errors = function() assert.has_no.errors(function() error("x") end) end,
    plain = function() assert(nil, "x") end,
    unknown = function() assert.is_splendid(1) end,
    called = function() assert.spy(spy.new()).was_called() end,
    called_times = function() assert.spy(spy.new()).was_called(1) end,
    called_with = function() local s = spy.new() s(1) assert.spy(s).was_called_with(2) end,
    called_with_less = function() local s = spy.new() s(1, nil) assert.spy(s).was_called_with(1) end,
    not_called = function() local s = spy.new() s(1) assert.spy(s).was_not_called() end,
    not_called_with = function() local s = spy.new() s(1) assert.spy(s).was_not.called_with(1) end,
  }) do
    it("rejects " .. name, function() assert.is_false((pcall(bad))) end)
  end

  it("accepts correct values", function()
    assert.are.same({ a = { 1 } }, { a = { 1 } })
    assert.are_not.same({ a = 1 }, { a = 2 })
    assert.has.errors(function() error("boom") end, "boom")
    assert.near(1, 1.05, 0.1)
    assert.is_table({})
    local target = { f = function(x) return x + 1 end }
    local s = spy.on(target, "f")
    assert.equal(2, target.f(1))
    assert.spy(s).was.called(1)
    assert.spy(s).was_called_with(1)
    assert.spy(s).was_called_with(match.is_number())
    assert.spy(s).returned_with(2)
    stub(target, "f", 7)
    assert.equal(7, target.f())
    assert.stub(target.f).was.called_with()
    local answering = stub(target, "f").returns(1)
    answering.on_call_with("a", match.is_table()).returns(2)
    assert.same({ 1, 2 }, { target.f("a"), target.f("a", {}) })
    answering.invokes(function(x) return x end)
    assert.equal("same", target.f("same"))
    answering:clear()
    assert.spy(target.f).was_not_called()
    assert.is_True(true)
    assert.Not.equals(1, 2)
  end)
end)

describe("a block", function()
  local order = {}
  setup(function() order[#order + 1] = "setup" end)
  before_each(function() order[#order + 1] = "before" end)
  after_each(function() order[#order + 1] = "after" end)
  describe("within", function()
    before_each(function() order[#order + 1] = "inner" end)
    it("runs first", function() finally(function() order[#order + 1] = "finally" end) end)
  end)
  it("runs hooks in order", function()
    assert.same({ "setup", "before", "inner", "finally", "after", "before" }, order)
  end)
  pending("may wait")
end)
