package nginx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// module is what we know of one nginx module beyond its name.
type module struct {
	needs     []string // modules to be loaded before it
	pkg       string   // the Debian package, "" if there is none
	block     string   // where directive stands: http, stream, or "" for the top
	directive string   // one by which nginx is asked for it; "" where it has none
	elsewhere bool     // the directive is for another block, but no other module has it
}

// catalogue holds the modules that ingress-nginx's configuration uses and that
// an nginx may lack.
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
	"threads":                  {directive: "thread_pool a threads=1"}, // no module, but nginx is built with them or not
}

// Has says whether a module can be used. Names are those of the files without
// ngx_ and _module: http_lua, stream, ndk_http.
func (n *Nginx) Has(name string) bool {
	_, err := n.Load(name)
	return err == nil
}

// Load returns the paths that load_module lines need for these modules: in
// the order nginx wants them, with the modules they need, without those that
// are linked in. A module that is missing is an error that says why, and names
// the Debian package that has it.
func (n *Nginx) Load(names ...string) ([]string, error) {
	answers, err := n.modules()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range names {
		answer, known := answers[name]
		if !known {
			return nil, fmt.Errorf("%s is no module that nginx is asked about", name)
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

// missing says what to do about a module that cannot be used. Debian's packages
// bring what their modules need.
func (n *Nginx) missing(name string, answers map[string]answer) error {
	if why := answers[name].refusal; why != "" {
		return fmt.Errorf("nginx has no module %s: %s does not take it: %s", name, n.Binary, why)
	}
	what, pkg := name, catalogue[name].pkg
	for _, need := range catalogue[name].needs {
		if pkg == "" && !answers[need].usable {
			what, pkg = name+", which needs "+need, catalogue[need].pkg
		}
	}
	mend := "it is in no Debian package: use an nginx that was built with it"
	if pkg != "" {
		mend = "apt-get install " + pkg
	}
	return fmt.Errorf("nginx has no module %s: neither linked into %s nor at %s: %s", what, n.Binary, n.moduleFile(name), mend)
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
