-- Which configuration each worker serves. Every worker notes it in shared
-- memory as soon as it has taken something over, and any worker can tell it of
-- all: whoever asks need not reach each of them by a connection.

local cjson = require("cjson.safe")

local ngx = ngx
local ipairs = ipairs
local string = string
local table = table
local tonumber = tonumber

-- In every template for ingress-nginx, and kept over reloads.
local notes = ngx.shared.luaconfig

local PREFIX = "serving:"
-- Seconds after which a worker that notes nothing any more is taken for gone.
-- They note something at every poll.
local EXPIRY = 10

local _M = {}

local generation

-- In the master: the workers forked from it, also later in place of one that
-- died, are of one generation.
function _M.init()
  generation = notes:incr("generation", 1, 0)
end

-- In a worker. backends: the number of those it serves, see configuration.
function _M.note(backends)
  local note = string.format("%d %d %.0f", generation, ngx.worker.count(), backends or 0)
  local ok, err = notes:set(PREFIX .. ngx.worker.pid(), note, EXPIRY)
  if not ok then
    ngx.log(ngx.ERR, "noting what this worker serves: ", err)
  end
end

-- All workers as a JSON list: pid; generation, a number that grows with every
-- load of the configuration; workers, how many there are of that generation;
-- backends and certificates, the numbers of the POSTs they serve, 0 for none.
function _M.tell(certificates)
  local list = {}
  for _, key in ipairs(notes:get_keys(0)) do
    local pid = key:match("^" .. PREFIX .. "(%d+)$")
    local note = pid and notes:get(key)
    if note then
      local its_generation, workers, backends = note:match("^(%d+) (%d+) (%d+)$")
      table.insert(list, {
        pid = tonumber(pid),
        generation = tonumber(its_generation),
        workers = tonumber(workers),
        backends = tonumber(backends),
        certificates = certificates or 0, -- read from shared memory at each handshake
      })
    end
  end
  return #list == 0 and "[]" or cjson.encode(list)
end

return _M
