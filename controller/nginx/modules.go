package nginx

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// module describes an nginx module.
type module struct {
	needs     []string // modules to load before it
	pkg       string   // the Debian package, "" if there is none
	block     string   // the block of directive: http, stream, or "" for the top level
	directive string   // the directive that tests for the module; "" if it has none
	elsewhere bool     // the directive is not allowed in the block, but its name is unique
}

// catalogue lists the modules that ingress-nginx's configuration uses and that an nginx may lack.
var catalogue = map[string]module{
	"ndk_http":                 {pkg: "libnginx-mod-http-ndk"},
	"http_lua":                 {needs: []string{"ndk_http"}, pkg: "libnginx-mod-http-lua", block: "http", directive: "lua_max_pending_timers 1024"},
	"http_set_misc":            {needs: []string{"ndk_http"}, pkg: "libnginx-mod-http-set-misc", block: "http", directive: "set_misc_base32_padding on"},
	"http_headers_more_filter": {pkg: "libnginx-mod-http-headers-more-filter", block: "http", directive: "more_set_headers a"},
	"http_geoip2":              {pkg: "libnginx-mod-http-geoip2", block: "http", directive: "geoip2_proxy_recursive on"},
	"http_brotli_filter":       {pkg: "libnginx-mod-http-brotli-filter", block: "http", directive: "brotli off"},
	"http_brotli_static":       {pkg: "libnginx-mod-http-brotli-static", block: "http", directive: "brotli_static off"},
	"http_auth_digest":         {block: "http", directive: "auth_digest off", elsewhere: true},
	"http_modsecurity":         {pkg: "libnginx-mod-http-modsecurity", block: "http", directive: "modsecurity off"},
	"otel_ngx":                 {block: "http", directive: "opentelemetry off"},
	"http_echo":                {pkg: "libnginx-mod-http-echo", block: "http", directive: "echo a", elsewhere: true},
	"stream":                   {pkg: "libnginx-mod-stream", directive: streamBlock},
	"stream_lua":               {needs: []string{"stream"}, block: "stream", directive: "lua_add_variable $a"},
	"stream_realip":            {needs: []string{"stream"}, block: "stream", directive: "set_real_ip_from 127.0.0.1"},
	"threads":                  {directive: "thread_pool a threads=1"}, // a build option, not a module
}

// Modules returns the names of the modules that an nginx may lack, sorted.
func Modules() []string { return slices.Sorted(maps.Keys(catalogue)) }

// Has reports whether a module can be used. Names are file names without ngx_ and _module:
// http_lua, stream, ndk_http.
func (n *Nginx) Has(name string) bool {
	_, err := n.Load(name)
	return err == nil
}

// Load returns the paths for the load_module lines of these modules and the modules that they need,
// in the order that nginx requires. Modules that are linked in have no path. If a module is
// missing, the error gives the reason and names the Debian package that contains it.
func (n *Nginx) Load(names ...string) ([]string, error) {
	answers, err := n.modules()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range names {
		answer, known := answers[name]
		if !known {
			return nil, fmt.Errorf("%s is not in the catalogue of modules", name)
		}
		if !answer.usable {
			return nil, n.missing(name, answers)
		}
	}
	for _, name := range inOrder(names) {
		if answer := answers[name]; answer.file != "" {
			files = append(files, answer.file)
		}
	}
	return files, nil
}

// Available returns the modules that can be used, each with the files that Load returns.
func (n *Nginx) Available(names ...string) map[string][]string {
	found := make(map[string][]string)
	for _, name := range names {
		if files, err := n.Load(name); err == nil {
			found[name] = files
		}
	}
	return found
}

// inOrder returns the modules and their dependencies, each once, after its own dependencies.
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

// missing returns an error that explains why a module cannot be used and which package to install.
// A Debian package also installs the modules that its own modules need.
func (n *Nginx) missing(name string, answers map[string]answer) error {
	if why := answers[name].rejection; why != "" {
		return fmt.Errorf("nginx has no module %s: %s cannot load it: %s", name, n.Binary, why)
	}
	what, pkg := name, catalogue[name].pkg
	for _, need := range catalogue[name].needs {
		if pkg == "" && !answers[need].usable {
			what, pkg = name+", which needs "+need, catalogue[need].pkg
		}
	}
	remedy := "no Debian package contains it: use an nginx that was built with it"
	if pkg != "" {
		remedy = "apt-get install " + pkg
	}
	return fmt.Errorf("nginx has no module %s: neither linked into %s nor at %s: %s", what, n.Binary, n.moduleFile(name), remedy)
}

// moduleFile returns the path of a module's shared object. The names begin with ngx_, except for
// those of NDK and OpenTelemetry.
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
