-- content_by_lua of the stream server that receives endpoints from the controller.
tcp_udp_configuration.call()
