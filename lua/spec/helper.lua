-- Helpers for specs. Modules capture ngx when they are loaded, so a spec sets an ngx with its own
-- fields and reloads them.

local original_ngx = ngx

local _M = {}

function _M.restore()
  _G.ngx = original_ngx
end

function _M.with_ngx(fields)
  fields.log = fields.log or function() end
  fields.print = fields.print or function() end
  fields.exit = fields.exit or function() end
  _G.ngx = setmetatable(fields, { __index = original_ngx })
end

function _M.fresh(name)
  package.loaded[name] = nil
  return require(name)
end

-- The modules that load reloads: they capture ngx, and specs need not share their state.
local OURS = { "balancer", "balancer.resty", "balancer.sticky", "balancer.ewma", "balancer.chash",
  "balancer.chashsubset", "balancer.round_robin", "balancer.sticky_balanced",
  "balancer.sticky_persistent", "canary", "certificate", "configuration", "deltas",
  "protected_ports", "worker_report", "tcp_udp_balancer", "tcp_udp_configuration", "util",
  "util.external_name", "util.nodemap" }

-- Reloads a module, with all modules of ours that it requires.
function _M.load(name, fields)
  _M.with_ngx(fields)
  for _, module in ipairs(OURS) do
    package.loaded[module] = nil
  end
  return _M.fresh(name)
end

-- Returns n endpoints: 10.10.10.1:8080 and so on.
function _M.endpoints(n)
  local list = {}
  for i = 1, n do
    list[i] = { address = "10.10.10." .. i, port = "8080" }
  end
  return list
end

-- Returns an ngx.shared in which some dictionaries are replaced.
function _M.shared(dictionaries)
  return setmetatable(dictionaries, { __index = original_ngx.shared })
end

-- Empties dictionaries.
function _M.flush(...)
  for _, name in ipairs({ ... }) do
    original_ngx.shared[name]:flush_all()
    original_ngx.shared[name]:flush_expired()
  end
end

return _M
