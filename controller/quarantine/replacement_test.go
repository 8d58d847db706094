package quarantine

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
)

// shown summarizes a replacement in one line: its paths, with closed ones in brackets.
func shown(s Replacement) string {
	if s.Ingress == nil {
		return "nothing"
	}
	var paths []string
	for route := range snapshot.Routes(s.Ingress) {
		path := route.Path
		if s.Closure != nil && (s.Closure.Routes == nil || s.Closure.Routes[route]) {
			path = "[" + path + "]"
		}
		paths = append(paths, path)
	}
	if s.Closure != nil && s.Closure.ClientCertificates {
		paths = append(paths, "host by certificates")
	}
	if s.Closure != nil && s.Closure.ServerSnippet {
		paths = append(paths, "host by snippet")
	}
	return strings.Join(paths, " ")
}

func TestReplacementOf(t *testing.T) {
	const auth = "auth-url: http://a"
	for name, test := range map[string]struct {
		wanted, good *networkingv1.Ingress
		want         string
	}{
		"new":                          {asking("a", "", "/", "/b"), nil, "[/] [/b]"},
		"good protects as much":        {asking("a", auth, "/"), asking("a", auth+"| limit-rps: 5", "/"), "/"},
		"good protects less":           {asking("a", auth, "/"), asking("a", "", "/"), "[/]"},
		"more paths":                   {asking("a", auth, "/", "/b"), asking("a", auth, "/"), "/ [/b]"},
		"fewer paths":                  {asking("a", "proxy-body-size: 1m", "/b"), asking("a", "", "/", "/b"), "/ /b"},
		"no longer good":               {asking("a", auth, "/"), asking("a", auth, "/"), "[/]"},
		"paths become patterns":        {asking("a", "use-regex: true", "/b.*"), asking("a", "", "/b"), "[/b.*]"},
		"a canary":                     {asking("a", "canary: true| canary-weight: 5", "/"), asking("a", "canary: true", "/"), "/"},
		"a new canary":                 {asking("a", "canary: true", "/"), nil, "nothing"},
		"becomes a canary":             {asking("a", "canary: true", "/"), asking("a", "", "/"), "nothing"},
		"was a canary":                 {asking("a", "", "/"), asking("a", "canary: true", "/"), "[/]"},
		"certificates":                 {asking("a", "auth-tls-secret: a/b", "/"), asking("a", "", "/"), "[/] host by certificates"},
		"a server's rules":             {asking("a", "server-snippet: deny all;", "/"), nil, "[/] host by snippet"},
		"a server's headers":           {asking("a", "server-snippet: add_header A b;", "/"), nil, "[/]"},
		"another ingress of that name": {asking("a", "", "/", "/b"), nil, "[/] [/b]"},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.wanted.DeepCopy()
			replacement := ReplacementOf(test.wanted, test.good, "")
			if got := shown(replacement); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if replacement.Closure != nil && (replacement.Ingress == test.wanted || replacement.Ingress == test.good) {
				t.Error("an object of the cluster is closed, not a copy")
			}
			if !SameConfiguration(before, test.wanted, "") || replacement.Description == "" {
				t.Errorf("the wanted version was modified, or Description is empty: %q", replacement.Description)
			}
		})
	}
}
