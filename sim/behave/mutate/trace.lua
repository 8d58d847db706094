-- Writes the lines of Lua that nginx executes to LOG: the host of the request, or nothing outside of
-- requests; a tab; the file; a colon; the line. A worker writes each of them once. The master opens
-- the file, because workers may lack the permission.

jit.off()
jit.flush()

local log = assert(io.open("LOG", "a"))
log:setvbuf("no")

local getinfo = debug.getinfo
local folder = getinfo(1, "S").source:match("^.*/")
local var = ngx.var
local seen = {}

local function host() return var.host end

local function note(_, line)
  local source = getinfo(2, "S").source
  -- The libraries of nginx's Lua module must not be interrupted: they share buffers, which reading
  -- a variable overwrites.
  if source:sub(1, #folder) ~= folder then
    return
  end
  local in_request, name = pcall(host)
  name = in_request and name or ""
  seen[name] = seen[name] or {}
  seen[name][source] = seen[name][source] or {}
  local lines = seen[name][source]
  if not lines[line] then
    lines[line] = true
    log:write(name .. "\t" .. source:sub(2) .. ":" .. line .. "\n")
  end
end

debug.sethook(note, "l")
