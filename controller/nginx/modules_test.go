package nginx

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withModules makes an nginx whose modules folder has these files.
func withModules(t *testing.T, arguments string, files ...string) (*Nginx, string) {
	t.Helper()
	folder := t.TempDir()
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(folder, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return mustFind(t, fake(t, "nginx/1.22.1", "--modules-path="+folder+" "+arguments)), folder
}

func TestLoadPutsWhatAModuleNeedsBeforeIt(t *testing.T) {
	n, folder := withModules(t, "--with-stream=dynamic",
		"ndk_http_module.so", "ngx_http_lua_module.so", "ngx_stream_module.so", "ngx_stream_lua_module.so")
	got, err := n.Load("stream_lua", "http_lua", "ndk_http")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		folder + "/ngx_stream_module.so", folder + "/ngx_stream_lua_module.so",
		folder + "/ndk_http_module.so", folder + "/ngx_http_lua_module.so",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadLeavesOutWhatIsLinkedIn(t *testing.T) {
	n, _ := withModules(t, "--with-stream --with-http_v2_module --add-module=../ngx_devel_kit-0.3.1 "+
		"--add-module=/tmp/lua-nginx-module-0.10.28 --add-module=../ngx_lua_upstream-0.07")
	got, err := n.Load("http_lua", "stream", "http_v2")
	if err != nil || len(got) != 0 {
		t.Errorf("Load: %q, %v; want nothing to load", got, err)
	}
}

func TestAModuleOfASimilarNameIsAnother(t *testing.T) {
	n, _ := withModules(t, "--with-stream --add-module=../stream-lua-nginx-module-0.0.16 --with-stream_ssl_module")
	if n.Has("http_lua") {
		t.Error("stream-lua-nginx-module taken for http_lua")
	}
	if !n.Has("stream_lua") {
		t.Error("stream-lua-nginx-module not seen")
	}
}

func TestMissingModuleNamesItsPackage(t *testing.T) {
	n, folder := withModules(t, "--with-stream=dynamic", "ndk_http_module.so")
	_, err := n.Load("http_lua")
	wantError(t, err, "http_lua", folder+"/ngx_http_lua_module.so", "apt-get install libnginx-mod-http-lua")
	_, err = n.Load("stream_lua")
	wantError(t, err, "stream", "apt-get install libnginx-mod-stream")
	n, _ = withModules(t, "--with-stream")
	_, err = n.Load("stream_lua")
	wantError(t, err, "stream_lua", "no Debian package")
	if n.Has("http_lua") || n.Has("stream_lua") {
		t.Error("Has says yes to what Load refuses")
	}
}
