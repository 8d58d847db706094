-- What the controller proves itself by when it changes what nginx serves. It lies
-- beside cfg.json, in a file that only nginx's master need read. A controller that
-- writes none, such as a fork's, is not asked.

local io = io
local error = error

local ABSENT = 2 -- ENOENT

local _M = {}

-- The secret in a folder; nil if there is none.
function _M.read(folder)
  local file, err, code = io.open(folder .. "/secret", "rb")
  if not file then
    if code == ABSENT then
      return nil
    end
    error("reading the secret of the controller: " .. err)
  end
  local secret = file:read("*l")
  file:close()
  if not secret or secret == "" then
    error("reading the secret of the controller: " .. folder .. "/secret is empty")
  end
  return secret
end

return _M
