package report

import (
	"fmt"
	"regexp"
	"strings"

	"windtunnel.dev/sim/regress"
)

// Files returns the files with the smallest clusters, by name, and sets their names in the report. A
// cluster without objects has no file.
func Files(r *regress.Report) map[string]string {
	files := map[string]string{}
	name := func(number int, what string, m *regress.Minimal) {
		if m == nil || len(m.Objects) == 0 {
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
