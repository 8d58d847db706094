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

// testdata/table.txt contains ingress-nginx's annotations, each with its risk, its scope and what
// happens to a bad value. It differs from ingress-nginx where a bad value would leave the location
// open there, or more open than requested (docs/compat.md).
func TestEveryAnnotationOfIngressNginxExists(t *testing.T) {
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

func TestRowsAreComplete(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, family := range annotations.Families() {
		if family.Name == "" || len(family.Keys) == 0 {
			t.Errorf("family %q has no name or no keys", family.Name)
		}
		for _, key := range family.Keys {
			if key.Protects == nil || key.TurnsOn && key.Protects == annotations.Harmless {
				t.Errorf("%s: Protects is missing, or Harmless and turned on: does a version without the annotation protect less?", key.Name)
			}
			if !name.MatchString(key.Name) || key.Want.Text == "" || !strings.HasSuffix(key.Doc, ".") {
				t.Errorf("%s: the name, the description (%q) or the wanted value (%q) is missing", key.Name, key.Doc, key.Want.Text)
			}
		}
	}
}

// docs/annotations.md is generated from the table.
func TestDocs(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# Annotations

These are the annotations of ingress-nginx, with the prefix ` + "`" + annotations.DefaultPrefix + "/`" + `
(` + "`--annotations-prefix`" + `). An empty value is ignored. Ignored and rejected values become findings and
Events.

If an annotation has a higher risk than the ConfigMap's ` + "`annotations-risk-level`" + `, the ingress is
rejected: its previous version stays if that [protects no less](quarantine.md); otherwise its
requests get 503. Snippets also need ` + "`allow-snippet-annotations`" + `. If several ingresses set an
annotation with the scope server or backend, the oldest ingress wins.

*A test writes this page from the tables in ` + "`controller/annotations`" + `.*
`)
	for _, family := range annotations.Families() {
		fmt.Fprintf(&page, "\n## %s%s\n\n| annotation | what it does | value | scope | risk | if the value is invalid |\n|---|---|---|---|---|---|\n",
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
