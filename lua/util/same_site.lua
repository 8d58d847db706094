-- Detects browsers that do not support SameSite=None.

local find = string.find

local _M = {}

-- Browsers that reject the cookie, or treat None as Strict. The frontier pattern (%f) prevents a
-- future Chrome/400 from matching as Chrome 40.
local INCOMPATIBLE = {
  "Chrome/[456]%d?%f[%D]",
  "%(iPhone; CPU iPhone OS 12[_%D]",
  "%(iPad; CPU OS 12[_%D]",
}

-- Safari on macOS 10.14 has this bug. Chrome on macOS does not, but it also has Safari in its
-- User-Agent.
local function is_mojave_safari(user_agent)
  return find(user_agent, "Macintosh", 1, true)
    and find(user_agent, "Mac OS X 10_14", 1, true)
    and find(user_agent, "Safari", 1, true)
    and not find(user_agent, "Chrome", 1, true)
end

function _M.same_site_none_compatible(user_agent)
  if not user_agent then
    return true
  end
  for i = 1, #INCOMPATIBLE do
    if find(user_agent, INCOMPATIBLE[i]) then
      return false
    end
  end
  return not is_mojave_safari(user_agent)
end

return _M
