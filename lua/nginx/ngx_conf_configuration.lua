-- content_by_lua of /configuration on the status server.
configuration.call()
