-- server_rewrite_by_lua of a host: where the client's address is found.
lua_ingress.chain_addresses()
