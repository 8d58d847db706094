-- set_by_lua of a server that redirects to another host (with or without www). The host is the
-- first argument of the script. Returns the URL for nginx.conf's redirect.

return lua_ingress.url_at_host(ngx.arg[1])
