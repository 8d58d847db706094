-- Resolves host names as the C library does, with the search list of resolv.conf. Answers are
-- cached for their TTL.

local resolver = require("resty.dns.resolver")
local lrucache = require("resty.lrucache")
local resolv_conf = require("util.resolv_conf")

local ngx = ngx
local gsub = string.gsub
local ipairs = ipairs
local min = math.min
local huge = math.huge
local table = table
local tostring = tostring

local CACHE_SIZE = 10000
-- Maximum number of addresses per name, the same as in an Endpoints object of Kubernetes.
-- The owner of a name must not be able to cause unbounded work in all workers.
local MAX_ADDRESSES = 1000
-- Number of attempts, and the timeout of each in milliseconds.
local RETRANS, TIMEOUT = 5, 2000

local _M = {}

local cache, err = lrucache.new(CACHE_SIZE)
if not cache then
  error("failed to create the cache of DNS answers: " .. (err or "unknown"))
end
_M._cache = cache -- for specs

local QUERIES = {
  { type = "TYPE_A", missing = "no A record resolved" },
  { type = "TYPE_AAAA", missing = "no AAAA record resolved" },
}

-- Sends one query. Returns addresses and their TTL in seconds, or nil and an error.
local function ask(client, name, query)
  local qtype = resolver[query.type]
  local answers, query_err = client:query(name, { qtype = qtype }, {})
  if not answers then
    return nil, tostring(query_err)
  end
  if answers.errcode then
    return nil, "server returned error code: " .. answers.errcode .. ": "
      .. tostring(answers.errstr)
  end

  local addresses, ttl = {}, huge
  for _, answer in ipairs(answers) do
    if answer.address and #addresses < MAX_ADDRESSES then
      addresses[#addresses + 1] = answer.address
    end
    if answer.ttl then -- including the TTLs of aliases (CNAME)
      ttl = min(ttl, answer.ttl)
    end
  end
  if #addresses == 0 then
    return nil, query.missing
  end
  return addresses, ttl
end

-- Sends both queries for a name; returns nil and both errors if neither gets an answer.
local function resolve(client, name)
  local errors = {}
  for i, query in ipairs(QUERIES) do
    local addresses, ttl = ask(client, name, query)
    if addresses then
      return addresses, ttl
    end
    errors[i] = ttl
  end
  return nil, errors
end

-- Returns the names to try, in the order of resolv.conf(5): the search list comes first for names
-- with fewer than ndots dots.
local function candidates(host)
  if host:sub(-1) == "." then
    return { host }
  end
  local names = {}
  for i, domain in ipairs(resolv_conf.search) do
    names[i] = host .. "." .. domain
  end
  local _, dots = gsub(host, "%.", "")
  if dots < resolv_conf.ndots then
    names[#names + 1] = host
  else
    table.insert(names, 1, host)
  end
  return names
end

-- Returns the addresses of a host. If it cannot be resolved, returns the host itself as the only
-- address.
function _M.lookup(host)
  local addresses = cache:get(host)
  if addresses then
    return addresses
  end

  local client, new_err = resolver:new({
    nameservers = resolv_conf.nameservers,
    retrans = RETRANS,
    timeout = TIMEOUT,
  })
  if not client then
    ngx.log(ngx.ERR, "failed to instantiate the resolver: " .. tostring(new_err))
    return { host }
  end

  local ttl_or_errors
  for _, name in ipairs(candidates(host)) do
    addresses, ttl_or_errors = resolve(client, name)
    if addresses then
      cache:set(host, addresses, ttl_or_errors)
      return addresses
    end
  end
  -- Log only the errors of the last name: with a long search list, the errors of all names would be
  -- confusing.
  ngx.log(ngx.ERR, "failed to query the DNS server for ", host, ":\n",
    table.concat(ttl_or_errors, "\n"))
  return { host }
end

return _M
