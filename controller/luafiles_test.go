package controller

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/lua"
)

func TestLuaFiles(t *testing.T) {
	for text, want := range map[string][]luaFile{
		"\tinit_by_lua_file \"/etc/lua/a b.lua\";\n":                        {{"init_by_lua_file", "/etc/lua/a b.lua"}},
		"log_by_lua_file '/l.lua';\n":                                       {{"log_by_lua_file", "/l.lua"}},
		"server { listen 1; content_by_lua_file /c.lua; }":                  {{"content_by_lua_file", "/c.lua"}},
		"{ init_by_lua_file /a.lua; log_by_lua_file /b.lua; }":              {{"init_by_lua_file", "/a.lua"}, {"log_by_lua_file", "/b.lua"}},
		"set_by_lua_file $to /s.lua \"example.com\";":                       {{"set_by_lua_file", "/s.lua"}},
		"content_by_lua_file lua/relative.lua;":                             nil,
		"content_by_lua_file /lua/$host.lua;":                               nil,
		"content_by_lua_file \"/lua/$host.lua\";":                           nil,
		"content_by_lua_file $file;":                                        nil,
		"set_by_lua_file $to $file;":                                        nil,
		"# content_by_lua_file /c.lua;":                                     nil,
		"content_by_lua_block { ngx.say(\"content_by_lua_file /c.lua;\") }": nil,
		"content_by_lua_file \"/cut":                                        nil,
	} {
		if got := luaFiles([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Lua code that lacks a file that every nginx.conf names is refused before nginx runs it. Files that only
// some clusters or requests need may be absent.
func TestLuaCodeThatLacksFiles(t *testing.T) {
	program, _ := nginxtest.Find(t, "http_lua")
	base, err := port.Free(8)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ without, template, want string }{
		{without: "nginx/ngx_conf_external_auth.lua"},
		{without: "nginx/ngx_conf_log_block.lua", want: "the folder with Lua code lacks nginx/ngx_conf_log_block.lua, which nginx.conf names in log_by_lua_file: add the file; an empty one does nothing"},
		{template: "http {\n\tinit_by_lua_file /etc/nginx/lua/mine.lua;\n}\n", want: "lacks mine.lua, which nginx.conf names in init_by_lua_file"},
		{template: "http {\n\tinit_by_lua_file /nowhere/mine.lua;\n}\n", want: "there is no file /nowhere/mine.lua, which nginx.conf names in init_by_lua_file: create it; an empty one does nothing"},
		{template: "http {\n\tinit_by_lua_file mine.lua;\n\tserver {\n\t\tcontent_by_lua_file /etc/nginx/lua/$host.lua;\n\t}\n}\n"},
	} {
		root, code := t.TempDir(), t.TempDir()
		if err := lua.Write(code); err != nil {
			t.Fatal(err)
		}
		if test.without != "" {
			if err := os.Remove(filepath.Join(code, test.without)); err != nil {
				t.Fatal(err)
			}
		}
		c := Config{Nginx: program, Lua: os.DirFS(code), LuaFallback: os.DirFS(filepath.Join(code, "fallback"))}
		c.Options = options.Options{Root: root, DynamicConfiguration: true, Ports: options.Ports{
			HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4, Health: base + 5, Profiler: base + 6, SSLProxy: base + 7,
		}}
		if test.template != "" {
			if c.Template, err = render.Parse("my.tmpl", []byte(test.template)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := NewOffline(c)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("without %q, template %q: %v, want %q", test.without, test.template, err, test.want)
		}
	}
}
