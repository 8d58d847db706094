package report

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/sim/regress"
)

// Files returns the files with the smallest clusters, by name, and sets their names in the report.
func Files(r *regress.Report) map[string]string {
	files := map[string]string{}
	name := func(number int, what string, m *regress.Minimal) {
		if m == nil {
			return
		}
		m.File = fmt.Sprintf("%s.yaml", fileName(number, what))
		files[m.File] = m.Manifests
	}
	for i := range r.Kinds {
		k := &r.Kinds[i]
		directive, _, _ := strings.Cut(k.Directive, " ")
		name(i+1, string(k.Change)+"-"+directive, k.Minimal)
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		name(i+1, "failure-"+f.Stage, f.Minimal)
	}
	return files
}

var notInFiles = regexp.MustCompile(`[^a-z0-9]+`)

func fileName(number int, what string) string {
	what = strings.Trim(notInFiles.ReplaceAllString(strings.ToLower(what), "-"), "-")
	return fmt.Sprintf("%03d-%s", number, what[:min(len(what), 60)])
}

// ChangedFiles returns the names of files with an ending that are not the same in both, but for
// those of tests.
func ChangedFiles(base, head map[string]string, ending string) []string {
	changed := map[string]bool{}
	for _, side := range []map[string]string{base, head} {
		for name := range side {
			if path.Ext(name) == ending && base[name] != head[name] && !isTest(name) {
				changed[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

func isTest(name string) bool {
	folder, _, _ := strings.Cut(name, "/")
	return folder == "spec" || folder == "test" || strings.HasSuffix(name, "_spec.lua") || strings.HasSuffix(name, "_test.lua")
}
