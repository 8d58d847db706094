package windtunnel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// docs/packages.md lists all examples.
func TestExamplesAreListed(t *testing.T) {
	page, err := os.ReadFile("docs/packages.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, link := range regexp.MustCompile(`\(\.\./([^)]*_test\.go)\)`).FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, link[1])
	}
	slices.Sort(listed)
	var there []string
	for _, root := range []string{"controller", "deploy", "sim"} {
		for _, depth := range []string{"", "*", "*/*", "*/*/*"} {
			found, err := filepath.Glob(filepath.Join(root, depth, "example_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			there = append(there, found...)
		}
	}
	slices.Sort(there)
	if !slices.Equal(listed, there) {
		t.Errorf("docs/packages.md lists %q, but the examples are %q", listed, there)
	}
}

// The oracle is a separate module; its dependencies must match those of this module.
func TestOracleModuleMatches(t *testing.T) {
	list := exec.Command("go", "list", "-mod=readonly", "-m", "all")
	list.Dir = "oracle"
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("%v: cd oracle && go mod tidy\n%s", err, out)
	}
}
