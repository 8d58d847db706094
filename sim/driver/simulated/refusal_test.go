package simulated

import (
	"strings"
	"testing"
	"time"
)

func TestRepeatedRefusalIsFinal(t *testing.T) {
	for name, test := range map[string]struct{ lines, want string }{
		"nothing":         {"starting\n", ""},
		"ingress-nginx's": {"E0101 queue.go:130] requeuing\nnginx: [emerg] unknown directive \"foo\" in /tmp/nginx/nginx-cfg1:2\nnginx: [emerg] another\n", `nginx: [emerg] unknown directive "foo" in /tmp/nginx/nginx-cfg1:2`},
		"Lua code":        {"nginx: [error] a worker's error\nnginx: [error] init_by_lua error: init_by_lua:11: no such module\n", "nginx: [error] init_by_lua error: init_by_lua:11: no such module"},
		"Lua syntax":      {"nginx: [error] init_by_lua_file error: error loading module 'a' from file 'a.lua':\n\ta.lua:7: '=' expected\nstack traceback:\n", "error loading module 'a' from file 'a.lua': a.lua:7: '=' expected"},
		"ours":            {`{"msg":"sync","error":"testing the configuration: [emerg] no"}` + "\n", "testing the configuration: [emerg] no"},
	} {
		t.Run(name, func(t *testing.T) {
			var r refusal
			for line := range strings.Lines(test.lines) {
				r.Write([]byte(line))
			}
			if err := r.final(); err != nil {
				t.Errorf("at once: %v", err)
			}
			r.at = r.at.Add(-refusalPatience - time.Second)
			err := r.final()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": "+test.want)) {
				t.Errorf("later: %v, want %s", err, test.want)
			}
		})
	}
}
