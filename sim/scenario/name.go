package scenario

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// notInNames matches what cannot be part of a name.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// NameFrom derives a name that a scenario or a subject can have from the path of a file. It leaves out
// the first of the endings that the path has; it returns otherwise if nothing is left.
func NameFrom(path, otherwise string, endings ...string) string {
	base := strings.ToLower(filepath.Base(path))
	for _, ending := range endings {
		if without, found := strings.CutSuffix(base, ending); found {
			base = without
			break
		}
	}
	name := strings.Trim(notInNames.ReplaceAllString(base, "-"), "-")
	name = strings.Trim(name[:min(len(name), validation.DNS1123LabelMaxLength)], "-")
	return cmp.Or(name, otherwise)
}
