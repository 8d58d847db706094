-- init_worker_by_lua: runs once in each worker, before it serves.

local cfg = require("util.cfg")

local config = cfg.read(cfg.folder())

lua_ingress.init_worker() -- first: it seeds the random numbers, which balancers use
balancer.init_worker({
  announcements = config.announcements,
  on_sync = worker_report and worker_report.note,
})

if config.enable_metrics and config.monitor_batch_max_size then
  monitor.init_worker(config.monitor_batch_max_size, config.metrics_socket)
end
