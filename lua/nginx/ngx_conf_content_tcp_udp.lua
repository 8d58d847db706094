-- content_by_lua of the stream server that the controller tells endpoints to.
tcp_udp_configuration.call()
