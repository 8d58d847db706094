-- Runs specs inside nginx. describe, it, before_each and so on work as in busted, so specs of other
-- projects run here, too. Modules and globals are restored after each file.

local assertions = require("spec.assertions")
local spies = require("spec.spy")

local _M = {}

local results
local block -- the describe that is being loaded or run

local function new_block(name, parent)
  return { name = name, parent = parent, before_each = {}, after_each = {}, setup = {},
    teardown = {}, children = {} }
end

local function full_name(b, name)
  while b and b.name do
    name = b.name .. " " .. name
    b = b.parent
  end
  return name
end

local function report(name, status, message)
  results[#results + 1] = { name = name, status = status, message = message }
end

local function traceback(err)
  if type(err) == "table" and err.pending then
    return err
  end
  return debug.traceback(tostring(err), 2)
end

-- Calls the hooks of outer blocks first (before_each) or last (after_each).
local function call_hooks(b, kind, outermost_first)
  local chain = {}
  while b do
    table.insert(chain, outermost_first and 1 or #chain + 1, b)
    b = b.parent
  end
  for _, one in ipairs(chain) do
    for _, hook in ipairs(one[kind]) do
      hook()
    end
  end
end

local finalizers -- of the running spec; nil outside a spec

local function run_it(b, name, f)
  finalizers = {}
  local ok, err = xpcall(function()
    call_hooks(b, "before_each", true)
    f()
  end, traceback)
  local after_ok, after_err = xpcall(function()
    for _, finalizer in ipairs(finalizers) do
      finalizer()
    end
    call_hooks(b, "after_each", false)
  end, traceback)
  finalizers = nil
  spies.revert_all()

  if type(err) == "table" and err.pending then
    return report(full_name(b, name), "skipped", err.pending)
  end
  if not ok or not after_ok then
    return report(full_name(b, name), "failed", not ok and err or after_err)
  end
  report(full_name(b, name), "passed")
end

local run_block

local function run_children(b)
  for _, hook in ipairs(b.setup) do
    hook()
  end
  for _, child in ipairs(b.children) do
    if child.it then
      run_it(b, child.name, child.it)
    else
      run_block(child)
    end
  end
  for _, hook in ipairs(b.teardown) do
    hook()
  end
end

-- Loads the body of a block only when the block runs, so the block loads its modules after the
-- preceding specs have run.
function run_block(b)
  local outer = block
  block = b
  local ok, err = xpcall(function()
    b.body()
    run_children(b)
  end, traceback)
  if not ok then
    report(full_name(b, "(block)"), "failed", err)
  end
  block = outer
end

local environment = { assert = assertions, spy = spies.spy, stub = spies.stub,
  mock = spies.mock, match = spies.match }

function environment.describe(name, body)
  local b = new_block(name, block)
  b.body = body
  table.insert(block.children, b)
end
environment.context, environment.insulate, environment.expose =
  environment.describe, environment.describe, environment.describe

function environment.it(name, f)
  if not f then
    return report(full_name(block, name), "skipped", "no body")
  end
  table.insert(block.children, { name = name, it = f })
end
environment.spec, environment.test = environment.it, environment.it

function environment.pending(name, f)
  if f or not finalizers then -- outside a spec
    return report(full_name(block, name), "skipped", "pending")
  end
  error({ pending = name or "pending" })
end

function environment.finally(f)
  table.insert(finalizers, f)
end

for name, kind in pairs({ before_each = "before_each", after_each = "after_each", setup = "setup",
  lazy_setup = "setup", strict_setup = "setup", teardown = "teardown",
  lazy_teardown = "teardown", strict_teardown = "teardown" }) do
  environment[name] = function(hook)
    table.insert(block[kind], hook)
  end
end

local function snapshot()
  local globals, loaded = {}, {}
  for key, value in pairs(_G) do
    globals[key] = value
  end
  for key, value in pairs(package.loaded) do
    loaded[key] = value
  end
  return function()
    for key in pairs(_G) do
      if globals[key] == nil then
        rawset(_G, key, nil)
      end
    end
    for key, value in pairs(globals) do
      rawset(_G, key, value)
    end
    for key in pairs(package.loaded) do
      if loaded[key] == nil then
        package.loaded[key] = nil
      end
    end
    for key, value in pairs(loaded) do
      package.loaded[key] = value
    end
  end
end

function _M.run_file(path)
  local restore = snapshot()
  for name, value in pairs(environment) do
    rawset(_G, name, value)
  end
  local chunk, err = loadfile(path)
  if chunk then
    local b = new_block(nil, nil)
    b.body = chunk
    run_block(b)
  else
    report(path, "failed", err)
  end
  restore()
end

-- files: paths of specs.
-- main: a third-party script that prepares the run and then requires busted.runner, which runs the
-- files here.
-- report: where to write the results, as JSON.
function _M.run(options)
  results = {}
  local function run_files()
    for _, path in ipairs(options.files) do
      _M.run_file(path)
    end
  end

  package.preload["busted.runner"] = function()
    return run_files
  end
  package.preload["luassert"] = function() return assertions end
  for _, name in ipairs({ "spy", "stub", "mock", "match" }) do
    package.preload["luassert." .. name] = function() return environment[name] end
  end
  local ok, err = xpcall(function()
    if options.main then
      rawset(_G, "arg", { [0] = options.main })
      dofile(options.main)
    else
      run_files()
    end
  end, traceback)
  if not ok then
    report("(run)", "failed", tostring(err))
  end

  local file = assert(io.open(options.report .. ".part", "w"))
  file:write(require("cjson.safe").encode(results))
  file:close()
  os.rename(options.report .. ".part", options.report) -- atomic: readers never see a part
end

return _M
