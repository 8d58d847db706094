package lua_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/nginxtest"
)

// specBlock runs specs in a timer of a worker, as the command resty does.
var specBlock = template.Must(template.New("http").Parse(`
lua_package_path "{{.Code}}/?.lua;{{.Path}};{{.Code}}/fallback/?.lua;";
{{with .CPath}}lua_package_cpath "{{.}};;";{{end}}
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
  {{.Lua}}
end)
}
`))

// specSite is the data of specBlock, and of the top level of nginx.conf.
type specSite struct {
	Global, Dir, Root, Code, Path, CPath, Lua string
	Modules                                   []string
}

// ourSpecs returns the files of our specs. Each mirrors the path of the module that it tests.
func ourSpecs(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("spec", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, "_spec.lua") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatal("no specs: ", err)
	}
	return files
}

// newSpecSite copies the code to a folder that nginx's workers, which run as another user, can
// read. It skips the test if there is no nginx with Lua.
func newSpecSite(t *testing.T, what specs) (specSite, *nginx.Nginx) {
	t.Helper()
	program, modules := nginxtest.Find(t, "http_lua")
	root := nginxtest.Folder(t)
	if err := os.Chmod(root, 0o777); err != nil { // a worker writes its report there
		t.Fatal(err)
	}
	c := specSite{Root: root, Dir: what.dir, Code: root + "/lua", Path: what.path, Modules: modules}
	if c.Dir == "" {
		c.Dir = root
	}
	if err := os.CopyFS(c.Code, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	return c, program
}

// write writes nginx.conf and returns its path.
func (c specSite) write(t *testing.T) string {
	t.Helper()
	var block strings.Builder
	if err := specBlock.Execute(&block, c); err != nil {
		t.Fatal(err)
	}
	main := c.Global + "\nworking_directory " + c.Dir + ";"
	return nginxtest.Conf{Modules: c.Modules, Workers: 1, Main: main, HTTP: block.String()}.Write(t, c.Root)
}

// specs are the specs of a run: files, a working directory, and optionally a main script.
type specs struct {
	files     []string
	main, dir string
	path      string // added to lua_package_path
}

// theirs returns the specs NAME_test.lua below a folder. They may load modules of the parent
// folder, such as test.helpers. nginx's workers must be able to read all these files.
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

// TestSpecs runs our specs. With WINDTUNNEL_SPECS=DIRECTORY it also runs third-party specs for
// these modules, the files *_test.lua below DIRECTORY. WINDTUNNEL_SPECS_MAIN is their script that
// prepares the run and loads busted.runner; WINDTUNNEL_SPECS_DIR is the working directory, for
// their fixtures.
func TestSpecs(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ours", func(t *testing.T) { runSpecs(t, specs{files: ourSpecs(t), dir: here}) })
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

// A third-party suite has a preparation script, helpers next to the specs, and fixtures with
// relative paths.
func TestThirdPartySpecs(t *testing.T) {
	dir := nginxtest.Folder(t)
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
	c, program := newSpecSite(t, what)
	var files strings.Builder
	for _, file := range what.files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&files, "%q, ", path)
	}
	main := "nil"
	if what.main != "" {
		main = fmt.Sprintf("%q", what.main)
	}
	report := c.Root + "/report.json"
	c.Lua = fmt.Sprintf(`require("spec.runner").run({ files = { %s }, main = %s, report = %q })`, &files, main, report)
	server := nginxtest.StartFile(t, program, c.write(t), c.Root+"/error.log")
	server.Await("the report of the specs", func() bool { _, err := os.Stat(report); return err == nil })
	server.Quit()

	var results []result
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		t.Error("no spec ran")
	}
	for _, result := range results {
		result.report(t)
	}
}

// result is the result of one spec.
type result struct{ Name, Status, Message string }

func (r result) report(t *testing.T) {
	t.Run(r.Name, func(t *testing.T) {
		switch r.Status {
		case "failed":
			t.Error(r.Message)
		case "skipped":
			t.Skip(r.Message)
		}
	})
}
