package side

import (
	"fmt"
	"io/fs"
	"os"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/regress"
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
