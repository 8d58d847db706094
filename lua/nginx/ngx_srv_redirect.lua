-- rewrite_by_lua of a server that redirects to another host (with or without www). The host is the
-- first argument of the script, if nginx's Lua module supports arguments, or $redirect_to.

local ok, target = pcall(function() return ngx.arg[1] end)
target = ok and target or ngx.var.redirect_to
if not target or target == "" then
  ngx.log(ngx.ERR, "redirect without a target")
  return ngx.exit(ngx.HTTP_INTERNAL_SERVER_ERROR)
end

return lua_ingress.redirect_to_host(target)
