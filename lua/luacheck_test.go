package lua_test

import (
	"os/exec"
	"testing"
)

// TestLuacheck finds what Lua itself does not: a global by mistake, a variable
// that nobody reads, a line that is too long.
func TestLuacheck(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("luacheck")
	if err != nil {
		t.Skip("needs luacheck: apt-get install lua-check")
	}
	if out, err := exec.Command(path, "--no-color", "--quiet", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
