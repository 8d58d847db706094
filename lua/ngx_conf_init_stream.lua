-- init_by_lua of the stream block, whose Lua is another one than http's.

local cfg = require("util.cfg")

local folder = cfg.folder()

-- Stand-ins for libraries that not every nginx has. Last on the path: a real one wins.
package.path = package.path .. ";" .. folder .. "/fallback/?.lua"

local config = cfg.read(folder)

tcp_udp_configuration = require("tcp_udp_configuration")
-- Before the balancer is loaded: it makes its pattern of forbidden peers from the port then.
tcp_udp_configuration.prohibited_localhost_port = config.listen_ports.status_port

tcp_udp_balancer = require("tcp_udp_balancer")
