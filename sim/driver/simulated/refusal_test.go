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
		"a worker's Lua":  {"2026/01/02 03:04:05 [error] 7#7: *1 [lua] a.lua:1: init_worker(): x, context: init_worker_by_lua*\n2026/01/02 03:04:05 [error] 7#7: init_worker_by_lua_file error: a.lua:1: module 'b' not found:\n\tno field package.preload['b']\n", "init_worker_by_lua_file error: a.lua:1: module 'b' not found: no field package.preload['b']"},
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

// Not all controllers print nginx's error log. The file is read more than once.
func TestWorkersThatDoNotStart(t *testing.T) {
	var r refusal
	r.read([]byte("2026/01/02 03:04:05 [notice] 1#1: start worker process 7\n"))
	if err := r.final(); r.text != "" || err != nil {
		t.Errorf("without an error: %q, %v", r.text, err)
	}
	log := []byte("2026/01/02 03:04:05 [notice] 1#1: start worker process 7\n" +
		"2026/01/02 03:04:05 [error] 7#7: init_worker_by_lua_file error: error loading module 'a' from file 'a.lua':\n\ta.lua:7: '=' expected\nstack traceback:\n" +
		"2026/01/02 03:04:05 [error] 8#8: init_worker_by_lua_file error: error loading module 'a' from file 'a.lua':\n\ta.lua:7: '=' expected\n")
	for range 2 {
		r.read(log)
	}
	r.at = r.at.Add(-refusalPatience - time.Second)
	want := "the workers of nginx do not start: [error] 7#7: init_worker_by_lua_file error: error loading module 'a' from file 'a.lua': a.lua:7: '=' expected"
	if err := r.final(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
