package side

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/scenario"
)

// changedLua returns the files of Lua code that differ between two folders; empty is the bundled
// code. Specs do not count.
func changedLua(base, head string) ([]string, error) {
	var sides [2]map[string]string
	for i, folder := range []string{base, head} {
		code := fs.FS(lua.FS)
		if folder != "" {
			code = os.DirFS(folder)
		}
		all, err := readfile.Tree(code)
		if err != nil {
			return nil, fmt.Errorf("reading the Lua code: %w", err)
		}
		sides[i] = all
	}
	return regress.ChangedFiles(sides[0], sides[1], ".lua"), nil
}

// compileLua checks that nginx can compile the changed files of a side's own Lua code: otherwise its
// controller does not start.
func compileLua(s scenario.Subject, changed []string) error {
	if s.Lua == "" {
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(changed), func(name string) bool {
		_, err := os.Stat(filepath.Join(s.Lua, name))
		return err != nil
	})
	if len(own) == 0 {
		return nil
	}
	program, err := nginx.Find(s.Nginx)
	if err != nil {
		return err
	}
	if err := program.CompileLua(s.Lua, own); err != nil {
		return fmt.Errorf("lua=%s: %w", s.Lua, err)
	}
	return nil
}
