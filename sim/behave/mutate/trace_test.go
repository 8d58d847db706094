package mutate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTracedLuaKeepsItsLines(t *testing.T) {
	files := map[string]string{"nginx/ngx_conf_init.lua": "-- init\nrun()", "nginx/ngx_conf_init_worker.lua": "work()", "balancer.lua": "balance()"}
	traced := Traced(files, "/tmp/\"log")
	if got := traced["nginx/ngx_conf_init.lua"]; got != "require(\"windtunnel_trace\") -- init\nrun()" {
		t.Errorf("init_by_lua runs %q", got)
	}
	if !strings.Contains(traced["windtunnel_trace.lua"], `io.open("/tmp/\"log", "a")`) {
		t.Error("the log is not that of the caller")
	}
	delete(traced, "windtunnel_trace.lua")
	traced["nginx/ngx_conf_init.lua"] = files["nginx/ngx_conf_init.lua"]
	if diff := cmp.Diff(files, traced); diff != "" {
		t.Errorf("other files changed (-want +got):\n%s", diff)
	}
}

func TestTraceIsRead(t *testing.T) {
	files := map[string]string{"balancer.lua": "", "balancer/ewma.lua": "", "util.lua": ""}
	log := "\t/run/lua/util.lua:3\n" +
		"Shop.example\t/run/lua/balancer/ewma.lua:12\n" +
		"shop.example\t/run/lua/balancer.lua:7\n" +
		"shop.example\t/usr/share/lua/5.1/cjson/util2.lua:1\n" +
		"no tab\n" +
		"cut.example\t/run/lua/balancer.lua:1"
	want := Reached{
		Everywhere: map[string]bool{"util.lua:3": true},
		Servers:    map[string]map[string]bool{"shop.example": {"balancer/ewma.lua:12": true, "balancer.lua:7": true}},
	}
	if diff := cmp.Diff(want, ReadTrace(log, files)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
