-- rewrite_by_lua of a server that only sends clients to another host (with or
-- without www). That host is the first argument of the script, for an nginx
-- whose Lua passes arguments on, or $redirect_to.

local ok, target = pcall(function() return ngx.arg[1] end)
target = ok and target or ngx.var.redirect_to
if not target or target == "" then
  ngx.log(ngx.ERR, "a redirect without a target")
  return ngx.exit(ngx.HTTP_INTERNAL_SERVER_ERROR)
end

return lua_ingress.redirect_to_host(target)
