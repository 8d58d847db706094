-- The secret with which the controller authenticates its changes. It is stored in a file beside
-- cfg.json that only nginx's master can read. Without the file, as with a fork's controller, no
-- secret is required.

local io = io
local error = error

local ABSENT = 2 -- ENOENT

local _M = {}

-- Returns the secret in a folder; nil if there is none.
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
