package annotations_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/internal/golden"
)

// testdata/table.txt has ingress-nginx's annotations, each with its risk, its
// scope and what becomes of a bad value: but for those that leave the location
// open there, or more open than is asked for (docs/compat.md).
func TestEveryAnnotationOfIngressNginxIsThere(t *testing.T) {
	text, err := os.ReadFile("testdata/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	var got []string
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			got = append(got, fmt.Sprintf("%s\t%v\t%s\t%v", key.Name, key.Risk, key.Scope, key.Bad))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-ingress-nginx +here):\n%s", diff)
	}
}

func TestEveryRowIsWhole(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, family := range annotations.Families() {
		if family.Name == "" || len(family.Keys) == 0 {
			t.Errorf("family %q has no name or no keys", family.Name)
		}
		for _, key := range family.Keys {
			if !name.MatchString(key.Name) || key.Want.Text == "" || !strings.HasSuffix(key.Doc, ".") {
				t.Errorf("%s: no name, no sentence (%q) or nothing wanted (%q)", key.Name, key.Doc, key.Want.Text)
			}
		}
	}
}

// docs/annotations.md is written from the table.
func TestDocs(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# Annotations

Those of ingress-nginx, all with the prefix ` + "`" + annotations.DefaultPrefix + "/`" + ` (` + "`--annotations-prefix`" + `). An ingress with an annotation that is
riskier than the ConfigMap's ` + "`annotations-risk-level`" + ` is refused: the earlier version stays if it [protects no less](quarantine.md); otherwise its requests get 503. Snippets need ` + "`allow-snippet-annotations`" + `, too.
An empty value is none. What was ignored or refused is a finding and an Event. Where an annotation is about a host or a backend, the
oldest ingress that names it has its way. *This page is written from the table in ` + "`controller/annotations`" + ` by its tests.*
`)
	for _, family := range annotations.Families() {
		fmt.Fprintf(&page, "\n## %s%s\n\n| annotation | what it does | value | about | risk | if the value is bad |\n|---|---|---|---|---|---|\n",
			strings.ToUpper(family.Name[:1]), family.Name[1:])
		for _, key := range family.Keys {
			names := "`" + strings.Join(append([]string{key.Name}, key.Aliases...), "`, `") + "`"
			fmt.Fprintf(&page, "| %s | %s | %s | %s | %v | %v |\n", names, cell(key.Doc), cell(key.Want.Text), key.Scope, key.Risk, key.Bad)
		}
	}
	golden.Check(t, "../../docs/annotations.md", []byte(page.String()))
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;").Replace(text)
}
