// Package forktest builds a fork of ingress-nginx for tests: a folder laid out like the root of its image,
// with a controller that has ingress-nginx's flags only, an nginx of its own, a template and Lua code. They
// are the bundled controller's and Debian's. Its one rule: answers show which of its parts are in use.
package forktest

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/lua"
)

// Headers of all answers of the fork's hosts: the edited template adds one, the edited Lua code the other.
const (
	TemplateHeader = "X-Fork-Template"
	LuaHeader      = "X-Fork-Lua"
	Edited         = "edited"
)

// Paths of the parts of a fork, below its root.
const (
	Controller = "/nginx-ingress-controller"
	Nginx      = "/usr/bin/nginx"
	Lua        = "/etc/nginx/lua"
	Template   = "/etc/nginx/template/nginx.tmpl"
)

// userID is the user that runs the controller in ingress-nginx's images.
const userID = 101

// controllerScript is a controller that has no flag but those of ingress-nginx, and finds its files at
// fixed paths.
const controllerScript = `#!/bin/sh
# The bundled controller as a fork of ingress-nginx.
own=${0%/*}/usr/local/bin/bundled
for flag; do
  case $flag in
  --help) exec 2>&1; "$own" --help | grep -v -e --nginx-root -e --nginx-binary -e --log-format -e --nginx-template -e --lua-dir; exit ;;
  --nginx-root*|--nginx-binary*|--log-format*|--nginx-template*|--lua-dir*) echo "unknown flag: $flag" >&2; exit 2 ;;
  esac
done
exec "$own" --nginx-template=` + Template + ` --lua-dir=` + Lua + ` "$@"
`

// Root builds a fork in a folder of the test and returns the folder. Its nginx needs the libraries of this
// machine; AddSystem adds them. The test is skipped where no subject can run.
func Root(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	root := t.TempDir()
	for folder := root; folder != filepath.Dir(folder) && folder != os.TempDir(); folder = filepath.Dir(folder) {
		check(t, os.Chmod(folder, 0o755)) // other users must be able to enter it
	}
	found, err := nginx.Find("")
	check(t, err)
	copyFile(t, built.Command(t, "nginx-ingress-controller"), filepath.Join(root, "usr/local/bin/bundled"))
	copyFile(t, found.Binary, filepath.Join(root, Nginx))
	write(t, filepath.Join(root, Controller), controllerScript, 0o755)
	write(t, filepath.Join(root, Template), template(t), 0o644)
	check(t, lua.Write(filepath.Join(root, Lua)))
	filter := filepath.Join(root, Lua, "nginx/ngx_conf_srv_hdr_filter.lua")
	text, err := os.ReadFile(filter)
	check(t, err)
	write(t, filter, string(text)+"\nngx.header['"+LuaHeader+"'] = '"+Edited+"'\n", 0o644)
	return root
}

// template returns the bundled controller's template in one file, with a header for all answers.
func template(t testing.TB) string {
	t.Helper()
	const main = "nginx.tmpl"
	trees := map[string]*parse.Tree{}
	for name, text := range render.Files() {
		tree := parse.New(name)
		tree.Mode = parse.SkipFuncCheck
		_, err := tree.Parse(text, "", "", trees)
		check(t, err)
	}
	for _, tree := range trees {
		quoteBraces(tree.Root)
	}
	text := trees[main].Root.String()
	delete(trees, main)
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		text = `{{ define "` + name + `" }}` + trees[name].Root.String() + "{{ end }}\n" + text
	}
	edited := strings.Replace(text, "\nhttp {\n", "\nhttp {\nadd_header "+TemplateHeader+" "+Edited+" always;\n", 1)
	if edited == text {
		t.Fatal("the template has no http block")
	}
	return edited
}

// quoteBraces lets the texts of a template be printed before its actions: a brace before an action would
// become part of it.
func quoteBraces(node parse.Node) {
	switch node := node.(type) {
	case *parse.TextNode:
		if text, ends := bytes.CutSuffix(node.Text, []byte("{")); ends {
			node.Text = append(bytes.Clone(text), `{{ "{" }}`...)
		}
	case *parse.ListNode:
		if node == nil {
			return
		}
		for _, one := range node.Nodes {
			quoteBraces(one)
		}
	case *parse.IfNode:
		quoteBraces(node.List)
		quoteBraces(node.ElseList)
	case *parse.RangeNode:
		quoteBraces(node.List)
		quoteBraces(node.ElseList)
	case *parse.WithNode:
		quoteBraces(node.List)
		quoteBraces(node.ElseList)
	}
}

// AddSystem adds the other parts of an image: a shell, an init process, libraries, modules of nginx, Lua
// libraries, users, and the folders that the controller writes to.
func AddSystem(t testing.TB, root string) {
	t.Helper()
	programs := []string{"/bin/sh", "/usr/bin/tini"}
	modules, err := filepath.Glob("/usr/lib/nginx/modules/*.so")
	check(t, err)
	libraries, err := filepath.Glob("/usr/lib/*/lua/5.1/*.so")
	check(t, err)
	for _, path := range slices.Concat(programs, modules, libraries) {
		if _, err := os.Stat(path); err == nil { // tini is optional
			copyFile(t, path, filepath.Join(root, path))
			AddLibraries(t, root, path)
		}
	}
	AddLibraries(t, root, filepath.Join(root, Nginx))
	AddLibraries(t, root, filepath.Join(root, "usr/local/bin/bundled"))
	check(t, os.CopyFS(filepath.Join(root, "usr/share/lua/5.1"), os.DirFS("/usr/share/lua/5.1")))
	for _, path := range []string{"/etc/nginx/mime.types", "/etc/nginx/fastcgi_params"} {
		copyFile(t, path, filepath.Join(root, path))
	}
	write(t, filepath.Join(root, "etc/passwd"), "root:x:0:0::/:/bin/sh\nwww-data:x:101:101::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n", 0o644)
	write(t, filepath.Join(root, "etc/group"), "root:x:0:\nwww-data:x:101:\nnogroup:x:65534:\n", 0o644)
	for _, folder := range []string{"/etc/nginx", "/etc/ingress-controller/ssl", "/etc/ingress-controller/auth", "/etc/ingress-controller/telemetry", "/tmp/nginx", "/var/log/nginx", "/var/lib/nginx"} {
		check(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	check(t, os.Symlink("/dev/stdout", filepath.Join(root, "var/log/nginx/access.log")))
	check(t, os.Symlink("/dev/stderr", filepath.Join(root, "var/log/nginx/error.log")))
	for _, folder := range []string{"etc/nginx", "etc/ingress-controller", "tmp", "var/log/nginx", "var/lib/nginx"} {
		check(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Lchown(path, userID, userID)
		}))
	}
}

// AddLibraries adds the libraries of this machine that a program or a library needs.
func AddLibraries(t testing.TB, root, program string) {
	t.Helper()
	out, _ := command.New(t.Context(), "ldd", program).Output() // an error means that it needs none
	for _, word := range strings.Fields(string(out)) {
		if filepath.IsAbs(word) {
			copyFile(t, word, filepath.Join(root, word))
		}
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	check(t, err)
	info, err := os.Stat(from)
	check(t, err)
	write(t, to, string(content), info.Mode().Perm())
}

func write(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), mode))
	check(t, os.Chmod(path, mode)) // whatever the umask
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
