-- init_worker_by_lua: runs once in each worker, before it serves.
lua_ingress.init_worker() -- first: it seeds the random numbers that balancing starts from
balancer.init_worker()
