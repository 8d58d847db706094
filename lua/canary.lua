-- Decides whether a request goes to a canary. The canary's policy checks a header first, then a
-- cookie, then the weight.

local is_blank = require("util").is_blank

local math = math
local setmetatable = setmetatable
local re_find = ngx.re.find

local _M = {}

-- Returns a table that caches the variable name of each policy, to avoid building strings for each
-- request. An entry is removed with its policy.
local function kept(name_of)
  return setmetatable({}, { __mode = "k", __index = function(names, policy)
    local name = name_of(policy)
    names[policy] = name
    return name
  end })
end

-- The names keep the configured case: nginx looks up variables case-insensitively.
local header_variables = kept(function(policy) return "http_" .. policy.header:gsub("-", "_") end)
local cookie_variables = kept(function(policy) return "cookie_" .. policy.cookie end)

local SWITCH = { always = true, never = false }

-- Returns true if the header selects the canary, false if it excludes it, and nil if it does
-- neither.
local function header_choice(policy, var)
  if is_blank(policy.header) then
    return nil
  end
  local value = var[header_variables[policy]]
  if not value then
    return nil
  end

  if not is_blank(policy.headerValue) then
    return value == policy.headerValue or nil
  end
  if not is_blank(policy.headerPattern) then
    local from, _, err = re_find(value, policy.headerPattern, "jo")
    if err then
      return false, "error when matching canary-by-header-pattern: '" .. policy.headerPattern
        .. "', error: " .. err
    end
    return from ~= nil or nil
  end
  return SWITCH[value]
end

local function cookie_choice(policy, var)
  if is_blank(policy.cookie) then
    return nil
  end
  local value = var[cookie_variables[policy]]
  if not value then
    return nil
  end
  return SWITCH[value]
end

local function weight_choice(policy)
  local total = policy.weightTotal
  if not total or total <= 100 then
    total = 100
  end
  return math.random(total) <= (policy.weight or 0)
end

-- Reports whether the request with these variables goes to the canary. The second result is an
-- error in the policy, if there is one.
function _M.chosen(policy, var)
  local choice, err = header_choice(policy, var)
  if choice == nil then
    choice = cookie_choice(policy, var)
  end
  if choice == nil then
    choice = weight_choice(policy)
  end
  return choice, err
end

return _M
