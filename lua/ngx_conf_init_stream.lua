-- init_by_lua of the stream block, which has its own Lua VM.

local cfg = require("util.cfg")
local protected_ports = require("protected_ports")
local secret = require("util.secret")

local folder = cfg.folder()

-- Substitutes for libraries that some nginx packages lack. They come last in the path, so a real
-- library takes precedence.
package.path = package.path .. ";" .. folder .. "/fallback/?.lua"

local config = cfg.read(folder)

tcp_udp_configuration = require("tcp_udp_configuration")
tcp_udp_configuration.secret = secret.read(folder)
tcp_udp_configuration.prohibited_localhost_port = config.listen_ports.status_port
protected_ports.add(config.closed_ports or {})

tcp_udp_balancer = require("tcp_udp_balancer")
tcp_udp_balancer.announcements = config.announcements
