package plan_test

import (
	"testing"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
)

// A tracer's module reads its file when nginx starts, so a change needs a reload.
func TestTracerFileChangeNeedsReload(t *testing.T) {
	state := func(text string) plan.State {
		s := plan.State{Conf: conf.Whole([]byte("events {}\n")), LuaConfig: []byte("{}")}
		if text != "" {
			s.Tracing = map[string][]byte{"/etc/nginx/opentracing.json": []byte(text)}
		}
		return s
	}
	for _, test := range []struct{ name, old, new, why string }{
		{"a change", "{\n  \"port\": 1\n}\n", "{\n  \"port\": 2\n}\n", `opentracing.json: "port": 1 -> opentracing.json: "port": 2`},
		{"a file goes", "{}\n", "", "- file opentracing.json"},
		{"a file comes", "", "{}\n", "+ opentracing.json: {}"},
		{"nothing", "{}\n", "{}\n", ""},
	} {
		steps := plan.Diff(state(test.old), state(test.new))
		switch {
		case test.why == "" && len(steps) > 0:
			t.Errorf("%s: %v", test.name, steps)
		case test.why != "" && (len(steps) != 1 || steps[0].Kind != plan.Reload || len(steps[0].Why) != 1 || steps[0].Why[0].String() != test.why):
			t.Errorf("%s: %v", test.name, steps)
		}
	}
}
