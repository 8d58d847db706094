package lua_test

import (
	"os/exec"
	"testing"
)

// TestLuacheck runs luacheck, which finds mistakes that Lua accepts: accidental globals, unused
// variables, long lines.
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
