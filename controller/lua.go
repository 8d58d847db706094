package controller

import (
	"io/fs"
	"path"
	"path/filepath"

	"windtunnel.dev/controller/apply"
)

// writeLua writes nginx's Lua code below the root. Foreign code names the files of ingress-nginx's
// image; these paths are moved below the root as well. It also gets our substitutes for libraries,
// over which its own files take precedence.
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

// rebased is a file system of Lua code with changed paths.
type rebased struct {
	fs.FS
	change func(text string) string
}

// ReadFile returns a file of Lua code with changed paths, and any other file unchanged.
func (r rebased) ReadFile(name string) ([]byte, error) {
	content, err := fs.ReadFile(r.FS, name)
	if err != nil || path.Ext(name) != ".lua" {
		return content, err
	}
	return []byte(r.change(string(content))), nil
}
