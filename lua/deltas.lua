-- Stores changes of backends (deltas) in shared memory, next to the last full list that was POSTed.
-- An up-to-date worker applies only the new deltas; a new worker applies the full list and all
-- deltas.

local cjson = require("cjson.safe")

local ngx = ngx
local ipairs = ipairs
local string = string
local tostring = tostring
local type = type

local data = ngx.shared.configuration_data

-- Key of the version of the full list. It is missing while a POST replaces the list.
local BASE = "backends_base"

local _M = {}

local function key(version)
  return string.format("backends_delta:%.0f", version)
end

-- Returns the texts of all deltas to the full list with this version, in order.
local function texts_after(base)
  local texts = {}
  while base do
    local text = data:get(key(base + #texts + 1))
    if not text then
      break
    end
    texts[#texts + 1] = text
  end
  return texts
end

-- Must be called before the full list is replaced. Returns the list's version and deltas, which
-- forget and restore need.
function _M.suspend()
  local base = data:get(BASE)
  local suspended = { base = base, texts = texts_after(base) }
  data:delete(BASE)
  return suspended
end

-- Must be called after the full list was stored with this version.
function _M.follow(version)
  if version then
    data:set(BASE, version)
  end
end

-- Deletes the deltas of a full list that was replaced.
function _M.forget(suspended)
  for i = 1, #suspended.texts do
    data:delete(key(suspended.base + i))
  end
end

-- Must be called if the full list could not be replaced: the attempt may have evicted its deltas.
function _M.restore(suspended)
  for i, text in ipairs(suspended.texts) do
    data:set(key(suspended.base + i), text)
  end
  _M.follow(suspended.base)
end

local function parse(text)
  local delta, err = cjson.decode(text)
  if type(delta) ~= "table" or type(delta.changed) ~= "table"
    or type(delta.removed) ~= "table" then
    return nil, err or "not an object with the lists changed and removed"
  end
  return delta
end

-- Reports whether the list and the deltas are complete: a full dictionary evicts the oldest
-- entries.
local function complete(base, version)
  return base and data:ttl("backends") and (base == version or data:ttl(key(base + 1)))
end

-- Stores a delta that is based on a version. Returns true; or nil, an error, and whether the
-- controller should send the full list instead.
function _M.add(text, version)
  local ok, err = parse(text)
  if not ok then
    return nil, err, false
  end
  local current = data:get("raw_backends_version")
  if not version or version ~= current or not complete(data:get(BASE), current) then
    return nil, "the current version of the backends is " .. tostring(current), true
  end
  -- safe_add does not evict other entries.
  ok, err = data:safe_add(key(version + 1), text)
  if not ok then
    return nil, err, true
  end
  return true
end

-- Returns the parsed deltas between two versions, in order; nil if one is missing, for example
-- because a full list was POSTed in between.
function _M.between(from, to)
  local list = {}
  for version = from + 1, to do
    local text = data:get(key(version))
    if not text then
      return nil
    end
    list[#list + 1] = parse(text)
  end
  return list
end

local function merge(backends, list)
  local by_name, order = {}, {}
  local function put(backend)
    if not by_name[backend.name] then
      order[#order + 1] = backend.name
    end
    by_name[backend.name] = backend
  end
  for _, backend in ipairs(backends) do
    put(backend)
  end
  for _, delta in ipairs(list) do
    for _, name in ipairs(delta.removed) do
      by_name[name] = nil
    end
    for _, backend in ipairs(delta.changed) do
      put(backend)
    end
  end

  local merged, added = {}, {}
  for _, name in ipairs(order) do
    if by_name[name] and not added[name] then
      added[name] = true
      merged[#merged + 1] = by_name[name]
    end
  end
  return merged
end

-- Returns the backends with all deltas applied, as JSON. Empty lists in them are encoded as empty
-- objects, which are the same in Lua.
function _M.whole()
  local base = data:get(BASE)
  local texts = texts_after(base)
  local text = data:get("backends")
  -- If the base has changed, the deltas do not belong to this list. A new version then follows
  -- soon, and the reader reads again.
  if not text or #texts == 0 or data:get(BASE) ~= base then
    return text
  end
  local backends = cjson.decode(text)
  if type(backends) ~= "table" then
    return text
  end
  local list = {}
  for i, delta in ipairs(texts) do
    list[i] = parse(delta)
  end
  local merged = merge(backends, list)
  return #merged == 0 and "[]" or cjson.encode(merged)
end

return _M
