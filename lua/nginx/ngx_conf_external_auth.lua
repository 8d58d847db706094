-- access_by_lua of a location with external authentication over keepalive connections, which
-- nginx's auth_request does not support.

local re_split = require("ngx.re").split
local auth_upstream = require("auth_upstream")

local var = ngx.var
local peer
if var.auth_host then
  peer = auth_upstream.resolve(var.auth_host, var.auth_port)
end
local answer = ngx.location.capture(var.auth_path, {
  method = ngx.HTTP_GET,
  body = "",
  share_all_vars = var.auth_keepalive_share_vars == "true",
  -- The subrequest has its own variables, so pass on the one that its location reads.
  vars = { pass_access_scheme = var.pass_access_scheme },
  ctx = { auth_peer = peer },
})

if answer.status == ngx.HTTP_OK then
  local received = {} -- by name in lower case: answer.header keeps the case that was sent
  for name, value in pairs(answer.header) do
    received[name:lower()] = value
  end
  -- A header that was sent several times is a list. Cookies cannot be joined: as with auth_request,
  -- the client gets the first one.
  local cookies = received["set-cookie"]
  var.auth_cookie = type(cookies) == "table" and cookies[1] or cookies
  local headers = var.auth_response_headers
  if headers and headers ~= "" then
    -- nginx.conf numbers the variables from 0.
    for i, name in ipairs(re_split(headers, "\\s*,\\s*", "jo")) do
      local value = received[name:lower()]
      var["authHeader" .. (i - 1)] = type(value) == "table" and table.concat(value, ", ") or value
    end
  end
  return
end

if answer.status == ngx.HTTP_UNAUTHORIZED or answer.status == ngx.HTTP_FORBIDDEN then
  return ngx.exit(answer.status)
end
ngx.exit(ngx.HTTP_INTERNAL_SERVER_ERROR)
