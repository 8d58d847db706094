-- A lock between workers in shared memory, with the interface of lua-resty-lock's resty.lock, for
-- nginx packages without that library. The lock is a key in a dictionary, which only one worker can
-- add. It expires, so a worker that dies does not hold it forever.

local min = math.min
local setmetatable = setmetatable
local ngx = ngx

local _M = {}
local mt = { __index = _M }

-- options: exptime (30 s), timeout (5 s), step (1 ms), ratio (2), max_step (0.5 s).
function _M.new(_, dictionary, options)
  local dict = ngx.shared[dictionary]
  if not dict then
    return nil, "dictionary not found"
  end
  options = options or {}
  local exptime = options.exptime or 30
  return setmetatable({
    dict = dict,
    exptime = exptime,
    timeout = min(options.timeout or 5, exptime),
    step = options.step or 0.001,
    ratio = options.ratio or 2,
    max_step = options.max_step or 0.5,
  }, mt)
end

-- Returns the seconds that it waited. With a timeout of 0 it does not yield, so it also works in
-- phases that cannot sleep.
function _M.lock(self, key)
  if not key then
    return nil, "nil key"
  end
  if self.key then
    return nil, "locked"
  end

  local waited, step = 0, self.step
  while true do
    local ok, err = self.dict:add(key, true, self.exptime)
    if ok then
      self.key = key
      return waited
    end
    if err ~= "exists" then
      return nil, err
    end
    if waited >= self.timeout then
      return nil, "timeout"
    end
    step = min(step, self.timeout - waited)
    ngx.sleep(step)
    waited = waited + step
    step = min(step * self.ratio, self.max_step)
  end
end

function _M.unlock(self)
  if not self.key then
    return nil, "unlocked"
  end
  local ok, err = self.dict:delete(self.key)
  self.key = nil
  if not ok then
    return nil, err
  end
  return 1
end

function _M.expire(self, seconds)
  if not self.key then
    return nil, "unlocked"
  end
  return self.dict:replace(self.key, true, seconds or self.exptime)
end

return _M
