-- balancer_by_lua of upstream_balancer: chooses the peer of one attempt.
balancer.balance()
