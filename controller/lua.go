package controller

import (
	"io/fs"
	"path"
	"path/filepath"

	"windtunnel.dev/controller/apply"
)

// writeLua writes nginx's Lua code below the root. Code that is not ours names the files of
// ingress-nginx's image; these paths are moved below the root as well. It also gets our substitutes
// for libraries. A file of its own takes precedence.
func writeLua(c Config) error {
	dir := layout(c).Lua()
	switch {
	case c.Lua == nil:
		return nil
	case c.LuaFallback == nil:
		return apply.Copy(dir, c.Lua)
	}
	if err := apply.Copy(filepath.Join(dir, "fallback"), c.LuaFallback); err != nil {
		return err
	}
	return apply.Copy(dir, rebased{c.Lua, c.Options.Rebase})
}

// rebased is Lua code with other paths.
type rebased struct {
	fs.FS
	change func(text string) string
}

// ReadFile returns a file of Lua code with the changed paths, and any other file as it is.
func (r rebased) ReadFile(name string) ([]byte, error) {
	content, err := fs.ReadFile(r.FS, name)
	if err != nil || path.Ext(name) != ".lua" {
		return content, err
	}
	return []byte(r.change(string(content))), nil
}
