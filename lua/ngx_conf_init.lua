-- init_by_lua: runs in the master before it forks the workers, at each start and reload. Reads
-- cfg.json and loads every module, so the workers share them.

local cfg = require("util.cfg")
local protected_ports = require("protected_ports")
local secret = require("util.secret")

local folder = cfg.folder()

-- Substitutes for libraries that some nginx packages lack. They come last in the path, so a real
-- library takes precedence.
package.path = package.path .. ";" .. folder .. "/fallback/?.lua"

local config = cfg.read(folder)

ngx.shared.luaconfig:set("enablemetrics", config.enable_metrics)
ngx.shared.luaconfig:set("use_forwarded_headers", config.use_forwarded_headers)

lua_ingress = require("lua_ingress")
lua_ingress.set_config(config)

configuration = require("configuration")
configuration.accepts_deltas = config.backends_delta
configuration.secret = secret.read(folder)
configuration.prohibited_localhost_port = config.listen_ports.status_port -- as in ingress-nginx
protected_ports.add(config.closed_ports or {})

if config.report_workers then
  worker_report = require("worker_report")
  worker_report.init()
  configuration.worker_report = worker_report
end

balancer = require("balancer")

if config.enable_metrics then
  monitor = require("monitor")
end

certificate = require("certificate")
certificate.is_ocsp_stapling_enabled = config.enable_ocsp
if config.default_certificate then
  certificate.load_default(config.default_certificate)
end
