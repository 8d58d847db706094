package regress

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// ChangedFiles returns the names of the files with this extension that differ between base and head,
// except test files.
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
