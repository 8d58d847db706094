-- The changes of backends since all of them were POSTed, one after the other,
-- beside the whole in shared memory. A worker that has followed takes over the
-- changes only; a new one takes the whole with all of them.

local cjson = require("cjson.safe")

local ngx = ngx
local ipairs = ipairs
local string = string
local tostring = tostring
local type = type

local data = ngx.shared.configuration_data

-- The number of the backends that were POSTed as a whole. While a POST
-- replaces them there is none.
local BASE = "backends_base"

local _M = {}

local function key(version)
  return string.format("backends_delta:%.0f", version)
end

-- Before the whole is replaced. Returns its version, nil if there is none.
function _M.suspend()
  local base = data:get(BASE)
  data:delete(BASE)
  return base
end

-- After the whole was stored as this version, or was not replaced after all.
function _M.follow(version)
  if version then
    data:set(BASE, version)
  end
end

-- Drops the changes to a whole that is no more.
function _M.forget(base)
  local version = base and base + 1
  while version and data:ttl(key(version)) do
    data:delete(key(version))
    version = version + 1
  end
end

local function parse(text)
  local delta, err = cjson.decode(text)
  if type(delta) ~= "table" or type(delta.changed) ~= "table"
    or type(delta.removed) ~= "table" then
    return nil, err or "not an object with the lists changed and removed"
  end
  return delta
end

-- Whether everything that a new worker needs is there: a full dictionary may
-- have thrown out the oldest.
local function complete(base, version)
  return base and data:ttl("backends") and (base == version or data:ttl(key(base + 1)))
end

-- Stores a change of the backends that have this version. Returns true, or nil,
-- why not, and whether the whole is wanted instead.
function _M.add(text, version)
  local ok, err = parse(text)
  if not ok then
    return nil, err, false
  end
  local current = data:get("raw_backends_version")
  if not version or version ~= current or not complete(data:get(BASE), current) then
    return nil, "the backends here are those of " .. tostring(current), true
  end
  -- Safe: a change is not worth the loss of what is there.
  ok, err = data:safe_add(key(version + 1), text)
  if not ok then
    return nil, err, true
  end
  return true
end

-- The changes between two versions, parsed, in their order; nil if there was
-- more than changes.
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

-- All the changes to the whole, and its version to see that it is still the same.
local function all()
  local base, list = data:get(BASE), {}
  while base do
    local text = data:get(key(base + #list + 1))
    if not text then
      break
    end
    list[#list + 1] = parse(text)
  end
  return list, base
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

  local merged, there = {}, {}
  for _, name in ipairs(order) do
    if by_name[name] and not there[name] then
      there[name] = true
      merged[#merged + 1] = by_name[name]
    end
  end
  return merged
end

-- The backends as they are after all changes, as JSON. (A list that is empty
-- comes out as an empty object, which is the same to Lua.)
function _M.whole()
  local list, base = all()
  local text = data:get("backends")
  -- With another base the changes are none of this whole. Then a new version is
  -- about to come, and who reads now will read again.
  if not text or #list == 0 or data:get(BASE) ~= base then
    return text
  end
  local backends = cjson.decode(text)
  if type(backends) ~= "table" then
    return text
  end
  local merged = merge(backends, list)
  return #merged == 0 and "[]" or cjson.encode(merged)
end

return _M
