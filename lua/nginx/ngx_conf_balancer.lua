-- balancer_by_lua of upstream_balancer: picks the peer of one attempt.
balancer.balance()
