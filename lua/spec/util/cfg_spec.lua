local cfg = require("util.cfg")

describe("util.cfg", function()
  local folder
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
  end)
  after_each(function()
    os.execute("rm -r " .. folder)
  end)

  local function write(text)
    local file = assert(io.open(folder .. "/cfg.json", "w"))
    file:write(text)
    file:close()
  end

  it("reads the file of a folder", function()
    write('{"hsts":true,"listen_ports":{"https":"443"}}')
    assert.same({ hsts = true, listen_ports = { https = "443" } }, cfg.read(folder))
  end)

  it("names the file that is missing or not JSON", function()
    local ok, err = pcall(cfg.read, folder)
    assert.is_false(ok)
    assert.matches("cfg.json", err, 1, true)
    for _, text in ipairs({ "", "{", "7" }) do
      write(text)
      ok, err = pcall(cfg.read, folder)
      assert.is_false(ok)
      assert.matches("reading the Lua configuration " .. folder, err, 1, true)
    end
  end)

  it("returns the folder of the caller", function()
    assert.equal("/spec/util", cfg.folder():sub(-10))
  end)
end)
