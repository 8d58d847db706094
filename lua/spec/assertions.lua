-- assert, with luassert's interface: assert.are.equal(a, b), assert.is_nil(v),
-- assert.has_no.errors(f), assert.spy(s).was_called_with(...). A name is parsed word by word: "not"
-- and "no" negate it, filler words are ignored.

local compare = require("spec.compare")
local spies = require("spec.spy")

local show = compare.show

local FILLERS = { is = 1, are = 1, was = 1, has = 1, have = 1, does = 1, a = 1, an = 1, to = 1,
  be = 1, were = 1 }
local NEGATIONS = { ["not"] = 1, no = 1 }

-- Each returns whether the assertion is true, and the data for the failure message.
local checks = {}

function checks.equal(a, b) return a == b, "equal to", a, b end
function checks.same(a, b) return compare.same(a, b), "the same as", b, a end
checks["true"] = function(a) return a == true, "true", a end
checks["false"] = function(a) return a == false, "false", a end
checks["nil"] = function(a) return a == nil, "nil", a end
function checks.truthy(a) return not not a, "truthy", a end
function checks.falsy(a) return not a, "falsy", a end
function checks.near(a, b, delta) return math.abs(a - b) <= delta, "near", a, b end
function checks.matches(pattern, text)
  return tostring(text):find(pattern) ~= nil, "matched by", text, pattern
end
function checks.error(f, wanted)
  local ok, err = pcall(f)
  if ok then
    return false, "an error", nil
  end
  if wanted == nil then
    return true, "an error", err
  end
  if type(err) == "string" and type(wanted) == "string" then
    err = err:gsub("^[^:]+:%d+: ", "")
    wanted = wanted:gsub("^[^:]+:%d+: ", "")
  end
  return compare.same(err, wanted), "the error", wanted, err
end
function checks.error_matches(f, pattern)
  local ok, err = pcall(f)
  return not ok and tostring(err):find(pattern) ~= nil, "an error matching", pattern, err
end
function checks.unique(list)
  for i = 1, #list do
    for j = i + 1, #list do
      if compare.same(list[i], list[j]) then
        return false, "unique", list
      end
    end
  end
  return true, "unique", list
end
for _, kind in ipairs({ "table", "string", "number", "boolean", "function", "userdata",
  "thread" }) do
  checks[kind] = function(a) return type(a) == kind, "a " .. kind, a end
end

-- Checks of a spy get the spy as their first argument.
local spy_checks = {}

function spy_checks.called(s, times)
  if times then
    return #s.calls == times, "called that often", #s.calls, times
  end
  return #s.calls > 0, "called", #s.calls
end
function spy_checks.called_with(s, ...)
  return s:called_with(...), "called with", { ... }, s.calls
end
function spy_checks.called_at_least(s, n) return #s.calls >= n, "calls at least", #s.calls, n end
function spy_checks.called_at_most(s, n) return #s.calls <= n, "calls at most", #s.calls, n end
function spy_checks.called_more_than(s, n) return #s.calls > n, "calls more than", #s.calls, n end
function spy_checks.called_less_than(s, n) return #s.calls < n, "calls less than", #s.calls, n end
function spy_checks.returned_with(s, ...)
  for _, results in ipairs(s.returned) do
    if compare.same(results, { n = select("#", ...), ... }) then
      return true, "returned", results
    end
  end
  return false, "returned", { ... }, s.returned
end

local ALIASES = {
  equals = "equal", errors = "error", match = "matches", error_match = "error_matches",
  matches_error = "error_matches", callable = "function",
}

local function fail(text, level)
  error(text, level or 3)
end

-- The state of a name while it is parsed: the words of the check, and whether it is negated.
local function chain(state)
  return setmetatable({}, {
    __index = function(_, name)
      local words, negated = state.words, state.negated
      for word in name:lower():gmatch("[^_]+") do
        if NEGATIONS[word] then
          negated = not negated
        elseif not FILLERS[word] or words ~= "" then
          words = words == "" and word or words .. "_" .. word
        end
      end
      return chain({ words = words, negated = negated, spy = state.spy })
    end,
    __call = function(self, ...)
      local name = ALIASES[state.words] or state.words
      if name == "spy" or name == "stub" then
        return chain({ words = "", negated = false, spy = (...) })
      end
      if name == "message" then
        return chain({ words = "", negated = false })
      end
      local check = (state.spy and spy_checks or checks)[name]
      if not check then
        fail("no such assertion: " .. name)
      end
      local ok, what, first, second
      if state.spy then
        if not spies.is_spy(state.spy) then
          fail("not a spy: " .. show(state.spy))
        end
        ok, what, first, second = check(state.spy, ...)
      else
        ok, what, first, second = check(...)
      end
      if ok == state.negated then
        fail(("expected%s %s\n  %s\n  %s"):format(state.negated and " not" or "", what,
          show(first), show(second)), 2)
      end
      return self
    end,
  })
end

return setmetatable({}, {
  __call = function(_, ok, message, ...)
    if not ok then
      fail(message or "assertion failed", 2)
    end
    return ok, message, ...
  end,
  __index = function(_, name)
    return chain({ words = "", negated = false })[name]
  end,
})
