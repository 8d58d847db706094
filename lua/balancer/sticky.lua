-- The base of algorithms that bind a client to an endpoint with a cookie. An algorithm defines how
-- the key in a cookie maps to an endpoint (field instance, with find) and how to choose a new
-- endpoint (pick_new_upstream).

local balancer_resty = require("balancer.resty")
local cookie = require("resty.cookie")
local ngx_balancer = require("ngx.balancer")
local same_site = require("util.same_site")
local split = require("util.split")
local is_blank = require("util").is_blank

local find = string.find
local sub = string.sub
local ipairs = ipairs
local tonumber = tonumber
local tostring = tostring
local ngx = ngx

local DEFAULT_COOKIE_NAME = "route"
local SEPARATOR = "|"

-- Shared result for the usual case, in which no peer failed. Read-only.
local NONE = {}

local _M = balancer_resty:new()

-- Returns an identifier of the backend for its cookie that does not reveal the name.
local function backend_key(name)
  return ngx.md5(ngx.md5(name) .. name)
end

-- Returns the initial fields of an instance.
function _M.fields(backend)
  return {
    traffic_shaping_policy = backend.trafficShapingPolicy,
    alternative_backends = backend.alternativeBackends,
    cookie_session_affinity = backend.sessionAffinityConfig.cookieSessionAffinity or {},
    backend_key = backend_key(backend.name),
  }
end

function _M.sync(self, backend)
  balancer_resty.sync(self, backend)
  self.cookie_session_affinity = backend.sessionAffinityConfig.cookieSessionAffinity or {}
  self.backend_key = backend_key(backend.name)
end

function _M.cookie_name(self)
  local name = self.cookie_session_affinity.name
  return is_blank(name) and DEFAULT_COOKIE_NAME or name
end

local function raw_cookie(self)
  local jar, err = cookie:new()
  if not jar then
    ngx.log(ngx.ERR, err)
    return nil
  end
  return jar:get(self:cookie_name()) or nil
end

-- Returns the two parts of a cookie's value. Cookies of old versions have only the first part.
local function parse(value)
  if not value then
    return nil, nil
  end
  local at = find(value, SEPARATOR, 1, true)
  if not at then
    return value, nil
  end
  return sub(value, 1, at - 1), sub(value, at + 1)
end

function _M.get_cookie_parsed(self)
  local upstream_key, its_backend = parse(raw_cookie(self))
  return { upstream_key = upstream_key, backend_key = its_backend }
end

function _M.get_cookie(self)
  return (parse(raw_cookie(self)))
end

-- Returns the SameSite attribute of the cookie. With conditional_samesite_none, browsers that do
-- not support None get no attribute.
local function cookie_samesite(affinity)
  if affinity.samesite == "None" and affinity.conditional_samesite_none
    and not same_site.same_site_none_compatible(ngx.var.http_user_agent) then
    return nil
  end
  return affinity.samesite
end

function _M.set_cookie(self, key)
  local jar, err = cookie:new()
  if not jar then
    ngx.log(ngx.ERR, err)
    return
  end

  local affinity = self.cookie_session_affinity
  local secure = affinity.secure
  if secure == nil then
    secure = ngx.var.https == "on"
  end
  local payload = {
    key = self:cookie_name(),
    value = key .. SEPARATOR .. self.backend_key,
    path = affinity.path or ngx.var.location_path,
    httponly = true,
    samesite = cookie_samesite(affinity),
    secure = secure,
    domain = affinity.domain,
  }
  local expires = affinity.expires and tonumber(affinity.expires)
  if expires then
    payload.expires = ngx.cookie_time(ngx.time() + expires)
  end
  if affinity.maxage then
    payload.max_age = tonumber(affinity.maxage)
  end

  local ok
  ok, err = jar:set(payload)
  if not ok then
    ngx.log(ngx.ERR, err)
  end
end

-- A method, so that specs can replace it.
function _M.get_last_failure()
  return ngx_balancer.get_last_failure()
end

-- Returns the set of this request's failed peers, which are all peers tried so far.
local function failed_upstreams()
  local tried = split.split_upstream_var(ngx.var.upstream_addr)
  if not tried or #tried == 0 then
    return NONE
  end
  local set = {}
  for _, address in ipairs(tried) do
    set[address] = true
  end
  return set
end

local function paths_of_host(locations)
  local var = ngx.var
  if var.server_name == "_" then
    return locations["_"]
  end
  local host = var.host
  if not host then
    return nil
  end
  if locations[host] then
    return locations[host]
  end
  local dot = find(host, ".", 1, true)
  return dot and locations["*" .. sub(host, dot)]
end

-- Reports whether this location sets the cookie: other ingresses may use the same backend without
-- session affinity.
local function should_set_cookie(self)
  local locations = self.cookie_session_affinity.locations
  local paths = locations and paths_of_host(locations)
  if not paths then
    return false
  end
  local path = ngx.var.location_path
  for i = 1, #paths do
    if paths[i] == path then
      return true
    end
  end
  return false
end

function _M.is_affinitized(self)
  local _, its_backend = parse(raw_cookie(self))
  return its_backend ~= nil and its_backend == self.backend_key
end

function _M.balance(self)
  local key = self:get_cookie()
  local endpoint = key and self.instance:find(key)
  if endpoint and not (self.cookie_session_affinity.change_on_failure
    and self.get_last_failure() ~= nil) then
    return endpoint
  end

  local new_endpoint, new_key = self:pick_new_upstream(failed_upstreams())
  if not new_endpoint then
    ngx.log(ngx.WARN, "failed to get new upstream; using upstream ", tostring(endpoint))
    return endpoint
  end
  if should_set_cookie(self) then
    self:set_cookie(new_key)
  end
  return new_endpoint
end

return _M
