package custom

import (
	"slices"
	"strings"
)

// reserved are the words of CEL that cannot be field names.
var reserved = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while"}

var escapes = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")

// escaped is the name of a field in rules (Kubernetes' API concepts, "Validation rules").
func escaped(name string) string {
	if slices.Contains(reserved, name) {
		return "__" + name + "__"
	}
	return escapes.Replace(name)
}
