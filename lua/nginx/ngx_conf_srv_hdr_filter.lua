-- header_filter_by_lua of a location.
lua_ingress.header()
