package annotations

import (
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/options"
)

func findingsOf(t *testing.T, annotations map[string]string, opts options.Options) []string {
	t.Helper()
	_, problems, err := Parse(&networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range problems {
		all = append(all, f.Key+": "+f.Reason)
	}
	return all
}

// TestUnknownAnnotationsAreFindings checks the suggestions for misspelt annotations. Annotations
// with other prefixes are ignored.
func TestUnknownAnnotationsAreFindings(t *testing.T) {
	opts := options.Options{Config: options.Defaults(1, false)}
	got := findingsOf(t, map[string]string{
		DefaultPrefix + "/limt-rps":        "5",
		DefaultPrefix + "/rewrit-target":   "/",
		DefaultPrefix + "/quite-another":   "x",
		DefaultPrefix + "/proxy-body-size": "8m",
		"kubernetes.io/ingress.class":      "nginx",
		"example.com/limt-rps":             "5",
	}, opts)
	want := []string{
		DefaultPrefix + "/limt-rps: this controller has no such annotation; it is ignored; did you mean " + DefaultPrefix + "/limit-rps?",
		DefaultPrefix + "/quite-another: this controller has no such annotation; it is ignored",
		DefaultPrefix + "/rewrit-target: this controller has no such annotation; it is ignored; did you mean " + DefaultPrefix + "/rewrite-target?",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	opts.AnnotationsPrefix = "example.com"
	got = findingsOf(t, map[string]string{"example.com/limt-rps": "5", DefaultPrefix + "/limt-rps": "5"}, opts)
	if len(got) != 1 || !strings.HasPrefix(got[0], "example.com/limt-rps: ") {
		t.Errorf("with another prefix: %q", got)
	}
}

func TestManyUnknownAnnotationsGiveFewFindings(t *testing.T) {
	many := map[string]string{}
	for i := range 1000 {
		many[fmt.Sprintf("%s/x-%04d", DefaultPrefix, i)] = "y"
	}
	got := findingsOf(t, many, options.Options{Config: options.Defaults(1, false)})
	if len(got) != mostUnknown || !strings.Contains(got[mostUnknown-1], "(and 990 more unknown annotations)") {
		t.Errorf("%d problems, the last %q", len(got), got[len(got)-1])
	}
}
