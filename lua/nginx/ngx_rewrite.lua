-- rewrite_by_lua of a location: redirects come before the check for endpoints.
lua_ingress.rewrite()
balancer.rewrite()
