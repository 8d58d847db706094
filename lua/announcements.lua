-- Notifies a worker immediately of new data from the controller. The worker keeps a connection to a
-- Unix socket of the controller, which sends a byte to a worker when it accepts its connection, and
-- to all workers after each change. A waiting worker costs nothing. If the controller cannot be
-- reached, polls find the new data.

local ngx = ngx
local pcall = pcall
local tcp = ngx.socket.tcp
local thread = ngx.thread
local tostring = tostring

-- Seconds between two checks whether the worker is exiting, and between two attempts to connect.
local INTERVAL = 1
-- Milliseconds. There may be no changes for long, and a read timeout would be logged as an error.
local CONNECT_TIMEOUT, READ_TIMEOUT = 1000, 24 * 3600 * 1000
-- Maximum number of bytes to read at once, one per change that the worker has not processed yet.
local MOST = 1024
-- A timer holds memory until it ends, so each handles a limited number of announcements.
local PER_TIMER = 1000

local _M = {}

local function hear(socket, heard)
  for _ = 1, PER_TIMER do
    local bytes, err = socket:receiveany(MOST)
    if not bytes then
      return err
    end
    heard()
  end
end

-- An open connection would keep an exiting worker alive.
local function await_exit()
  while not ngx.worker.exiting() do
    ngx.sleep(INTERVAL)
  end
end

-- Returns the reason why it stopped; nil if the worker may reconnect immediately.
local function listen(address, heard)
  local socket = tcp()
  socket:settimeouts(CONNECT_TIMEOUT, CONNECT_TIMEOUT, READ_TIMEOUT)
  local ok, err = socket:connect(address)
  if not ok then
    return err
  end
  local hearing, exiting = thread.spawn(hear, socket, heard), thread.spawn(await_exit)
  ok, err = thread.wait(hearing, exiting)
  thread.kill(hearing)
  thread.kill(exiting)
  socket:close()
  if not ok or err then
    return tostring(err)
  end
end

-- Calls heard after each announcement, until the worker exits. address: unix:PATH.
function _M.follow(address, heard)
  local connected = true
  local function try(premature)
    if premature or ngx.worker.exiting() then
      return
    end
    local ok, err = pcall(listen, address, heard)
    if ngx.worker.exiting() then
      return
    end
    if err and connected then
      ngx.log(ngx.WARN, "the controller does not announce changes, so they are polled: ",
        tostring(err))
    end
    connected = ok and not err
    local again
    again, err = ngx.timer.at(connected and 0 or INTERVAL, try)
    if not again then
      ngx.log(ngx.ERR, "failed to create timer: ", err)
    end
  end
  local ok, err = ngx.timer.at(0, try)
  if not ok then
    ngx.log(ngx.ERR, "failed to create timer: ", err)
  end
end

return _M
