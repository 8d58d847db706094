package options

import (
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`\$(?:[A-Za-z0-9_]+|\{[A-Za-z0-9_]+\})`)

// HasVariablesOnly tells whether each dollar in text begins the name of a
// variable as nginx reads it. Whether there is such a variable, only nginx
// knows.
func HasVariablesOnly(text string) bool {
	return !strings.Contains(variable.ReplaceAllString(text, ""), "$")
}
