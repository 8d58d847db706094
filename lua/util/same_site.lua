-- Which browsers understand SameSite=None.

local find = string.find

local _M = {}

-- Browsers that refuse the cookie, or read None as Strict. The frontier keeps
-- a Chrome/400 of some day from being taken for a Chrome 40.
local INCOMPATIBLE = {
  "Chrome/[456]%d?%f[%D]",
  "%(iPhone; CPU iPhone OS 12[_%D]",
  "%(iPad; CPU OS 12[_%D]",
}

-- Safari of macOS 10.14 has the fault; Chrome there names Safari, too, without having it.
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
