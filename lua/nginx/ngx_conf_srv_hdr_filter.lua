-- header_filter_by_lua of a location: adds HSTS.
lua_ingress.header()
