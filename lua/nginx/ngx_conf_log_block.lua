-- log_by_lua of a location: the algorithm may learn from the answer.
balancer.log()
