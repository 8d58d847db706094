package kubeapi

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// inside returns JSON of nested objects.
func inside(levels int, inner string) string {
	return strings.Repeat(`{"a":`, levels) + inner + strings.Repeat("}", levels)
}

// Patches that would occupy the libraries for seconds or minutes are refused at once; patches that
// real clients send are accepted.
func TestPatchesAreBounded(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"big"},"data":{"k":"`+strings.Repeat("x", 1<<20)+`"}}`)
	w.mustCreate(cmPath, `{"metadata":{"name":"small"},"data":{"k":"v"}}`)
	w.mustCreate(svcPath, `{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}}`)
	define(t, s, widgetDefinition)
	const widgetPath = "/apis/example.com/v1/namespaces/default/widgets"
	w.mustCreate(widgetPath, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"host":"h"}}`)
	ports := make([]string, 100_000)
	for i := range ports {
		ports[i] = fmt.Sprintf(`{"port":%d}`, i+2)
	}
	operations := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/data/k","value":"v"},`, n), ",") + "]"
	}
	for name, test := range map[string]struct {
		path, contentType, body string
		code                    int
	}{
		"deep merge":             {cmPath + "/small", "application/merge-patch+json", inside(9000, "1"), 413},
		"large and nested merge": {cmPath + "/small", "application/merge-patch+json", inside(500, `"`+strings.Repeat("x", 2<<20)+`"`), 413},
		"large merge":            {cmPath + "/small", "application/merge-patch+json", `{"data":{"j":"` + strings.Repeat("x", 1<<19) + `"}}`, 200},
		"many operations":        {cmPath + "/big", "application/json-patch+json", operations(1000), 413},
		"too many operations":    {cmPath + "/small", "application/json-patch+json", operations(10001), 413},
		"few operations":         {cmPath + "/small", "application/json-patch+json", operations(100), 200},
		"long path":              {cmPath + "/big", "application/json-patch+json", `[{"op":"test","path":"` + strings.Repeat("/a", 1000) + `","value":1}]`, 413},
		"wide":                   {svcPath + "/s", "application/strategic-merge-patch+json", `{"spec":{"ports":[` + strings.Join(ports, ",") + `]}}`, 413},
		"deep value":             {widgetPath + "/w", "application/json-patch+json", `[{"op":"add","path":"/spec/free","value":` + inside(9000, "1") + `}]`, 422},
		"deep apply":             {widgetPath + "/w?fieldManager=f", "application/apply-patch+yaml", `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: ` + inside(9000, "1") + `}`, 400},
	} {
		began := time.Now()
		code, status := w.answer(w.send("PATCH", test.path, test.contentType, test.body))
		if code != test.code {
			t.Errorf("%s: %d %.300s, want %d", name, code, text(status, "message"), test.code)
		}
		t.Logf("%s: %v", name, time.Since(began))
	}
}
