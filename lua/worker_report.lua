-- Records which configuration each worker serves. Every worker writes a note to shared memory after
-- it applies a change. Any worker can report the notes of all workers, so a client need not connect
-- to each of them.

local cjson = require("cjson.safe")

local ngx = ngx
local ipairs = ipairs
local string = string
local table = table
local tonumber = tonumber

-- Every template for ingress-nginx declares this dictionary, and it survives reloads.
local notes = ngx.shared.luaconfig

local PREFIX = "serving:"
-- Seconds until a note expires. Workers renew it at every poll, so a worker without a note has
-- ended.
local EXPIRY = 10

local _M = {}

local generation

-- Runs in the master. All workers that it forks have the same generation, including later
-- replacements of workers that died.
function _M.init()
  generation = notes:incr("generation", 1, 0)
end

-- Runs in a worker. backends: the version that it serves; see configuration.
function _M.note(backends)
  local note = string.format("%d %d %.0f", generation, ngx.worker.count(), backends or 0)
  local ok, err = notes:set(PREFIX .. ngx.worker.pid(), note, EXPIRY)
  if not ok then
    ngx.log(ngx.ERR, "could not record what this worker serves: ", err)
  end
end

-- Returns all workers as a JSON list of objects with the fields pid; generation, a number that
-- increases with every load of the configuration; workers, the number of workers of that
-- generation; backends and certificates, the versions that the worker serves, 0 for none.
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
        certificates = certificates or 0, -- each handshake reads them from shared memory
      })
    end
  end
  return #list == 0 and "[]" or cjson.encode(list)
end

return _M
