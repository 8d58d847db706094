-- rewrite_by_lua of a location: a redirect comes before the question whether anybody can answer.
lua_ingress.rewrite()
balancer.rewrite()
