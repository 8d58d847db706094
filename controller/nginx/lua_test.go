package nginx_test

import (
	"os"
	"path/filepath"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

func TestCompileLua(t *testing.T) {
	program, _ := nginxtest.Find(t, "http_lua")
	folder := t.TempDir()
	for name, text := range map[string]string{"good.lua": "goto done\n::done::\nreturn 1", "bad.lua": "local a\nif then", "worse.lua": "return {"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := program.CompileLua(folder, []string{"good.lua"}); err != nil {
		t.Error(err)
	}
	err := program.CompileLua(folder, []string{"bad.lua", "good.lua", "worse.lua"})
	if want := "bad.lua:2: unexpected symbol near 'then'; worse.lua:1: unexpected symbol near '<eof>'"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := program.CompileLua(folder, []string{"missing.lua"}); err == nil {
		t.Error("a file that does not exist was compiled")
	}
}
