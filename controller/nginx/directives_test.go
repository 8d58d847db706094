package nginx_test

import (
	"strings"
	"testing"
)

func TestUnmetNamesTheFirstDirectiveThatNginxDoesNotKnow(t *testing.T) {
	plain := mustFind(t, pretend(t, "", []string{"stream"}, nil).path)
	plain.Version = "1.22.1"
	for name, test := range map[string]struct {
		conf      string
		directive string
		line      int
		reason    string
	}{
		"nothing":       {"http {\n\tserver {\n\t\tlisten 80;\n\t}\n}\n", "", 0, ""},
		"in a comment":  {"http {\n\t# more_set_headers a;\n}\n", "", 0, ""},
		"HTTP/2":        {"http {\n\tserver {\n\t\thttp2 on;\n\t}\n}\n", "http2", 3, "1.25.1"},
		"headers-more":  {"http {\n\tmore_set_headers 'A: b';\n}\n", "more_set_headers", 2, "libnginx-mod-http-headers-more-filter"},
		"Lua":           {"http {\n\tinit_by_lua_file a;\n}\n", "init_by_lua_file", 2, "libnginx-mod-http-lua"},
		"Lua in stream": {"http {\n}\nstream {\n\tserver {\n\t\tpreread_by_lua_block {\n\t\t}\n\t}\n}\n", "preread_by_lua_block", 5, "no module stream_lua"},
		"lua_ in it":    {"stream {\n\tlua_add_variable $a;\n}\n", "lua_add_variable", 2, "stream_lua"},
		"brotli":        {"http {\n\tbrotli on;\n}\n", "brotli", 2, "libnginx-mod-http-brotli-filter"},
	} {
		t.Run(name, func(t *testing.T) {
			unmet := plain.Unmet([]byte(test.conf))
			switch {
			case unmet == nil && test.directive == "":
			case unmet == nil || unmet.Directive != test.directive || unmet.Line != test.line || !strings.Contains(unmet.Reason, test.reason):
				t.Errorf("got %+v, want %s in line %d for %s", unmet, test.directive, test.line, test.reason)
			}
		})
	}
}
