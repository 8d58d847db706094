package controller

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/snapshot"
)

// checkLuaFiles returns an error if Lua code that is not ours lacks a file that nginx.conf names even for an
// empty cluster. nginx -t does not open most of these files: without one, requests fail, or the controller
// never becomes ready.
func checkLuaFiles(in compile.Input, dir string) error {
	if !in.Options.ForeignLua {
		return nil
	}
	conf, err := compile.Build(snapshot.Snapshot{}, in).Conf()
	if err != nil {
		return err
	}
	for _, named := range luaFiles(conf) {
		if _, err := os.Stat(named.path); errors.Is(err, fs.ErrNotExist) {
			if file, inside := strings.CutPrefix(named.path, dir+"/"); inside {
				return fmt.Errorf("the folder with Lua code lacks %s, which nginx.conf names in %s: add the file; an empty one does nothing", file, named.directive)
			}
			return fmt.Errorf("there is no file %s, which nginx.conf names in %s: create it; an empty one does nothing", named.path, named.directive)
		}
	}
	return nil
}

// luaFile is a file of Lua code that a directive names.
type luaFile struct{ directive, path string }

// byLuaFile matches a directive with an absolute path that contains no variable. nginx looks up other paths
// elsewhere, or with each request.
var byLuaFile = regexp.MustCompile(`^\s*(\w+_by_lua_file)\s+(?:\$\w+\s+)?(?:"(/[^"$\\]*)"|'(/[^'$\\]*)'|(/[^\s"'$\\]*))(?:\s|$)`)

// luaFiles lists the files of Lua code that a configuration names, if their paths are absolute and do not
// depend on variables. It finds directives that are on one line.
func luaFiles(conf []byte) []luaFile {
	var all []luaFile
	for line := range bytes.Lines(conf) {
		code, _, _ := strings.Cut(string(line), "#")
		for statement := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == '{' || r == ';' }) {
			if found := byLuaFile.FindStringSubmatch(statement); found != nil {
				all = append(all, luaFile{found[1], found[2] + found[3] + found[4]})
			}
		}
	}
	return all
}
