package nginx

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// module is what we know of one nginx module beyond its name.
type module struct {
	needs   []string // modules to be loaded before it
	pkg     string   // the Debian package, "" if there is none
	sources []string // how its source folder's name begins where it is linked in by --add-module
}

// catalogue holds the modules that ingress-nginx's configuration uses and that
// are not nginx's own. The source folders are those of OpenResty's bundle and
// of the modules' repositories.
var catalogue = map[string]module{
	"ndk_http":                 {pkg: "libnginx-mod-http-ndk", sources: []string{"ngx_devel_kit"}},
	"http_lua":                 {needs: []string{"ndk_http"}, pkg: "libnginx-mod-http-lua", sources: []string{"lua-nginx-module", "ngx_lua-"}},
	"http_set_misc":            {needs: []string{"ndk_http"}, pkg: "libnginx-mod-http-set-misc", sources: []string{"set-misc-nginx-module"}},
	"http_headers_more_filter": {pkg: "libnginx-mod-http-headers-more-filter", sources: []string{"headers-more-nginx-module"}},
	"http_geoip2":              {pkg: "libnginx-mod-http-geoip2", sources: []string{"ngx_http_geoip2_module"}},
	"http_brotli_filter":       {pkg: "libnginx-mod-http-brotli-filter", sources: []string{"ngx_brotli"}},
	"http_brotli_static":       {pkg: "libnginx-mod-http-brotli-static", sources: []string{"ngx_brotli"}},
	"http_auth_digest":         {sources: []string{"ngx_http_auth_digest", "nginx-http-auth-digest"}},
	"http_modsecurity":         {pkg: "libnginx-mod-http-modsecurity", sources: []string{"ModSecurity-nginx"}},
	"otel_ngx":                 {},
	"http_echo":                {pkg: "libnginx-mod-http-echo", sources: []string{"echo-nginx-module"}},
	"stream":                   {pkg: "libnginx-mod-stream"},
	"stream_lua":               {needs: []string{"stream"}, sources: []string{"stream-lua-nginx-module", "ngx_stream_lua"}},
}

// Has says whether a module can be used: it is linked in, or its file is in
// the modules folder. Names are those of the files without ngx_ and _module:
// http_lua, stream, ndk_http.
func (n *Nginx) Has(name string) bool {
	return n.linked(name) || exists(n.moduleFile(name))
}

// Load returns the paths that load_module lines need for these modules: in
// the order nginx wants them, with the modules they need, without those that
// are linked in. A module that is missing is an error that names the Debian
// package that has it.
func (n *Nginx) Load(names ...string) ([]string, error) {
	for _, name := range names {
		for _, part := range inOrder([]string{name}) {
			if file := n.moduleFile(part); !n.linked(part) && !exists(file) {
				return nil, n.missing(name, part, file)
			}
		}
	}
	var files []string
	for _, name := range inOrder(names) {
		if !n.linked(name) {
			files = append(files, n.moduleFile(name))
		}
	}
	return files, nil
}

// Available are those of the names that can be used, each with the files that
// load it: what Load returns.
func (n *Nginx) Available(names ...string) map[string][]string {
	found := make(map[string][]string)
	for _, name := range names {
		if files, err := n.Load(name); err == nil {
			found[name] = files
		}
	}
	return found
}

// inOrder puts what a module needs before it, each once.
func inOrder(names []string) []string {
	var order []string
	for _, name := range names {
		for _, next := range append(inOrder(catalogue[name].needs), name) {
			if !slices.Contains(order, next) {
				order = append(order, next)
			}
		}
	}
	return order
}

// missing says what to install for the module asked for, whose part has no file.
// Debian's packages bring what their modules need.
func (n *Nginx) missing(name, part, file string) error {
	mend := "it is in no Debian package: use an nginx that was built with it"
	if pkg := cmp.Or(catalogue[name].pkg, catalogue[part].pkg); pkg != "" {
		mend = "apt-get install " + pkg
	}
	if part != name {
		name += ", which needs " + part
	}
	return fmt.Errorf("nginx has no module %s: neither linked into %s nor at %s: %s", name, n.Binary, file, mend)
}

// linked says whether a module is part of the binary: --with-NAME,
// --with-NAME_module, or --add-module of a source folder we know.
func (n *Nginx) linked(name string) bool {
	for _, argument := range n.arguments {
		switch key, value, _ := strings.Cut(argument, "="); key {
		case "--with-" + name, "--with-" + name + "_module":
			return value != "dynamic"
		case "--add-module":
			if comesFrom(name, filepath.Base(value)) {
				return true
			}
		}
	}
	return false
}

func comesFrom(name, folder string) bool {
	return slices.ContainsFunc(catalogue[name].sources, func(source string) bool {
		return strings.HasPrefix(folder, source)
	})
}

// moduleFile is where the module's shared object would be. All but NDK's and OpenTelemetry's begin with ngx_.
func (n *Nginx) moduleFile(name string) string {
	file := "ngx_" + name + "_module.so"
	if strings.HasPrefix(name, "ndk_") || strings.HasPrefix(name, "otel_") {
		file = name + "_module.so"
	}
	return filepath.Join(n.ModulesPath, file)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
