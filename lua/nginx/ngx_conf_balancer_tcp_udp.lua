-- balancer_by_lua of the stream block's upstream: chooses the peer of a connection.
tcp_udp_balancer.balance()
