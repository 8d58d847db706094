-- balancer_by_lua of the stream block's upstream: picks the peer of a connection.
tcp_udp_balancer.balance()
