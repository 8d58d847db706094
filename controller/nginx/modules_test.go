package nginx_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// pretended is a script that answers -V and -t like nginx. It has built-in directives, and knows
// others after it loads a file. It appends a line to a file for each -t.
type pretended struct {
	path, modules, tests string
}

// pretend writes such a script. A file in the modules folder lists the directives that loading it
// adds. A file with the content "broken" cannot be loaded; one with "twice" is already linked in.
func pretend(t *testing.T, arguments string, known []string, files map[string]string) pretended {
	t.Helper()
	dir := t.TempDir()
	p := pretended{filepath.Join(dir, "nginx"), filepath.Join(dir, "modules"), filepath.Join(dir, "tests")}
	if err := os.Mkdir(p.modules, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(p.modules, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf(`#!/bin/sh
case $1 in
-V)
	echo >&2 "nginx version: nginx/1.26.0"
	echo >&2 "configure arguments: --modules-path=%s %s"
	exit
esac
echo >> %s
known="error_log pid events http client_body_temp_path proxy_temp_path } %s"
number=0
while read -r word rest; do
	number=$((number+1))
	word=${word%%;}
	case $word in
	"") ;;
	load_module)
		rest=${rest%%\";}; rest=${rest#\"}
		content=$(cat "$rest")
		case $content in
		broken) echo >&2 "nginx: [emerg] module \"$rest\" is not binary compatible in $2:$number"; exit 1 ;;
		twice) echo >&2 "nginx: [emerg] module \"a\" is already loaded in $2:$number"; exit 1 ;;
		esac
		known="$known $content" ;;
	*)
		case " $known " in
		*" $word "*) ;;
		*) echo >&2 "nginx: [emerg] unknown directive \"$word\" in $2:$number"; exit 1 ;;
		esac
	esac
done < "$2"
`, p.modules, arguments, p.tests, strings.Join(known, " "))
	if err := os.WriteFile(p.path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// Only nginx's acceptance counts, not its build options or the names of files.
func TestModulesAreTested(t *testing.T) {
	for name, test := range map[string]struct {
		arguments string
		known     []string
		files     map[string]string
		load      string   // the names of modules
		want      []string // the files to load
		refused   string   // part of the error
	}{
		"linked in from a folder of any name": {arguments: "--add-module=../lua", known: []string{"lua_max_pending_timers"}, load: "ndk_http http_lua"},
		"the words of -V prove nothing": {arguments: "--add-module=../lua-nginx-module --with-stream", load: "http_lua",
			refused: "apt-get install libnginx-mod-http-lua"},
		"a file": {files: map[string]string{"ndk_http_module.so": "", "ngx_http_lua_module.so": "lua_max_pending_timers"}, load: "http_lua",
			want: []string{"ndk_http_module.so", "ngx_http_lua_module.so"}},
		"a file of another nginx": {files: map[string]string{"ngx_http_lua_module.so": "broken"}, load: "http_lua",
			refused: `ngx_http_lua_module.so" is not binary compatible`},
		"linked in, and a file as well":          {known: []string{"brotli"}, files: map[string]string{"ngx_http_brotli_filter_module.so": "twice"}, load: "http_brotli_filter"},
		"linked in, and a file of another nginx": {known: []string{"brotli"}, files: map[string]string{"ngx_http_brotli_filter_module.so": "broken"}, load: "http_brotli_filter"},
		"needed by none that is there":           {load: "ndk_http", refused: "libnginx-mod-http-ndk"},
		"stream, and its Lua": {files: map[string]string{"ngx_stream_module.so": "stream", "ngx_stream_lua_module.so": "lua_add_variable"}, load: "stream_lua",
			want: []string{"ngx_stream_module.so", "ngx_stream_lua_module.so"}},
		"no stream module": {known: []string{"lua_add_variable", "set_real_ip_from"}, load: "stream_realip", refused: "stream_realip, which needs stream"},
		"unknown module":   {load: "http_nothing", refused: "http_nothing"},
		"threads":          {known: []string{"thread_pool"}, load: "threads"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pretend(t, test.arguments, test.known, test.files)
			n := mustFind(t, p.path)
			files, err := n.Load(strings.Fields(test.load)...)
			if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("error %v, want %q", err, test.refused)
			}
			var want []string
			for _, file := range test.want {
				want = append(want, filepath.Join(p.modules, file))
			}
			if fmt.Sprint(files) != fmt.Sprint(want) {
				t.Errorf("files %v, want %v", files, want)
			}
			for _, name := range strings.Fields(test.load) {
				if n.Has(name) != (test.refused == "") {
					t.Errorf("Has(%s) is %v", name, n.Has(name))
				}
			}
		})
	}
}

func (p pretended) asked(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(p.tests)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestAnswersAreCached(t *testing.T) {
	p := pretend(t, "", nil, nil)
	if mustFind(t, p.path).Has("http_lua") {
		t.Fatal("an nginx without modules has Lua")
	}
	first := p.asked(t)
	if mustFind(t, p.path).Has("stream"); p.asked(t) != first {
		t.Errorf("nginx -t ran %d times for the first question and %d times in all", first, p.asked(t))
	}
	// Install a module.
	if err := os.WriteFile(filepath.Join(p.modules, "ngx_http_lua_module.so"), []byte("lua_max_pending_timers"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !mustFind(t, p.path).Has("http_lua") {
		t.Error("the newly installed module is not found")
	}
}

// An nginx that rejects every configuration does not count as one without modules.
func TestNginxThatRefusesEverything(t *testing.T) {
	p := pretend(t, "", nil, nil)
	script, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(script), "known=", "echo 'nginx: [emerg] getpwnam(\"www\") failed' >&2; exit 1\nknown=", 1)
	if err := os.WriteFile(p.path, []byte(broken), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = mustFind(t, p.path).Load("http_lua")
	wantError(t, err, p.path, "asking", `getpwnam("www") failed`)
}

// The nginx of this machine can use all modules that the package manager has installed.
func TestInstalledModulesAreUsable(t *testing.T) {
	n, _ := nginxtest.Find(t)
	installed := func(name string) bool {
		_, err := os.Stat(filepath.Join(n.ModulesPath, "ngx_"+name+"_module.so"))
		return err == nil
	}
	for _, name := range []string{"http_lua", "stream", "http_headers_more_filter"} {
		if installed(name) && !n.Has(name) {
			_, err := n.Load(name)
			t.Errorf("%s is in %s, but not usable: %v", name, n.ModulesPath, err)
		}
	}
	if n.Has("stream_lua") && !installed("stream_lua") {
		t.Error("stream_lua is reported, but its file does not exist")
	}
}
