-- init_worker_by_lua of the stream block.
tcp_udp_balancer.init_worker()
