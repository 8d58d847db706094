-- server_rewrite_by_lua of a host: sets the header with the client's address.
lua_ingress.chain_addresses()
