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
)

// testdata/table.txt lists ingress-nginx's annotations, each with its risk, its scope and the
// handling of a bad value. It differs from ingress-nginx where a bad value would leave the location
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
