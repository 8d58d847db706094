package lua_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller/nginx"
)

// specConf runs specs in a timer of a worker, as the command resty does.
const specConf = `daemon off;
worker_processes 1;
working_directory %[1]s;
pid %[2]s/nginx.pid;
error_log %[2]s/error.log info;
%[3]s
events {}
http {
access_log off;
client_body_temp_path %[2]s/body;
proxy_temp_path %[2]s/proxy;
fastcgi_temp_path %[2]s/fastcgi;
uwsgi_temp_path %[2]s/uwsgi;
scgi_temp_path %[2]s/scgi;
lua_package_path "%[4]s/?.lua;%[8]s;%[4]s/fallback/?.lua;";
lua_shared_dict luaconfig 1m;
lua_shared_dict configuration_data 5M;
lua_shared_dict certificate_data 16M;
lua_shared_dict certificate_servers 1M;
lua_shared_dict ocsp_response_cache 1M;
lua_shared_dict balancer_ewma 1M;
lua_shared_dict balancer_ewma_last_touched_at 1M;
lua_shared_dict balancer_ewma_locks 512k;
lua_shared_dict tcp_udp_configuration_data 5M;
init_worker_by_lua_block {
local ok, err = ngx.timer.at(0, function(premature)
  if premature then return end
  require("spec.runner").run({ files = { %[5]s }, main = %[6]s, report = %[7]q })
end)
}
}
`

// specs are what is run: files, in a working directory, by a main script if there is one.
type specs struct {
	files     []string
	main, dir string
	path      string // more of lua_package_path
}

// theirs are the specs NAME_test.lua below a folder. They may load modules of
// its parent's, as test.helpers. nginx's workers must be able to read it all.
func theirs(t *testing.T, folder string) specs {
	t.Helper()
	s := specs{path: filepath.Dir(filepath.Clean(folder)) + "/?.lua;"}
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.lua") {
			s.files = append(s.files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSpecs runs our specs, and, with WINDTUNNEL_SPECS=DIRECTORY, those
// *_test.lua below it that others wrote against these modules;
// WINDTUNNEL_SPECS_MAIN is their script that prepares things and loads
// busted.runner, WINDTUNNEL_SPECS_DIR the directory they read fixtures from.
func TestSpecs(t *testing.T) {
	ours, err := filepath.Glob("spec/*_spec.lua")
	if err != nil || len(ours) == 0 {
		t.Fatal("no specs: ", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ours", func(t *testing.T) { runSpecs(t, specs{files: ours, dir: here}) })
	dir := os.Getenv("WINDTUNNEL_SPECS")
	if dir == "" {
		return
	}
	t.Run("theirs", func(t *testing.T) {
		s := theirs(t, dir)
		s.main, s.dir = os.Getenv("WINDTUNNEL_SPECS_MAIN"), os.Getenv("WINDTUNNEL_SPECS_DIR")
		runSpecs(t, s)
	})
}

// A third party's suite brings a script that prepares things, helpers beside
// the specs, and fixtures by relative path.
func TestSpecsOfOthersBringTheirMain(t *testing.T) {
	dir := folder(t)
	if err := os.Mkdir(dir+"/test", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"fixture.txt":      "fixture",
		"test/helpers.lua": "return { answer = 42 }",
		"test/run.lua": `local busted_runner = require("busted.runner")
_G.helpers = require("test.helpers")
ngx.print = function() end
require("lua_ingress").init_worker()
busted_runner({ standalone = false })`,
		"test/some_test.lua": `describe("theirs", function()
  it("has helpers, fixtures and our modules", function()
    assert.are.equal(42, helpers.answer)
    assert.are.equal("fixture", io.open("fixture.txt"):read("*a"))
    assert.is_function(require("balancer.ewma").balance)
    _G.leak = true
  end)
end)`,
		"test/sub/other_test.lua": `it("is insulated from other files", function() assert.is_nil(rawget(_G, "leak")) end)`,
	} {
		if err := os.MkdirAll(filepath.Dir(dir+"/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := theirs(t, dir+"/test")
	s.main, s.dir = dir+"/test/run.lua", dir
	runSpecs(t, s)
}

func runSpecs(t *testing.T, what specs) {
	t.Parallel()
	program, err := nginx.Find("")
	if err != nil {
		t.Skip("needs nginx: ", err)
	}
	modules, err := program.Load("http_lua")
	if err != nil {
		t.Skip("needs nginx with Lua: ", err)
	}
	root := folder(t)
	if err := os.Chmod(root, 0o777); err != nil { // the worker writes its report
		t.Fatal(err)
	}
	var files, loads strings.Builder
	for _, file := range what.files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&files, "%q, ", path)
	}
	for _, module := range modules {
		fmt.Fprintf(&loads, "load_module %s;\n", module)
	}
	main, dir := "nil", what.dir
	if what.main != "" {
		main = fmt.Sprintf("%q", what.main)
	}
	if dir == "" {
		dir = root
	}
	// The worker is another user and may not see the checkout: it runs a copy.
	code := root + "/lua"
	if err := os.CopyFS(code, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	report, conf := root+"/report.json", root+"/nginx.conf"
	text := fmt.Sprintf(specConf, dir, root, loads.String(), code, files.String(), main, report, what.path)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, Root: root}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if s.process, err = program.Start(ctx, conf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.process.Quit(ctx); err != nil {
			t.Error(err)
		}
	})
	s.await("the report of the specs", func() bool { _, err := os.Stat(report); return err == nil })

	var results []struct{ Name, Status, Message string }
	text2, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text2, &results); err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		t.Error("no spec ran")
	}
	for _, result := range results {
		t.Run(result.Name, func(t *testing.T) {
			switch result.Status {
			case "failed":
				t.Error(result.Message)
			case "skipped":
				t.Skip(result.Message)
			}
		})
	}
}
