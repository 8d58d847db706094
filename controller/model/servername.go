package model

import (
	"errors"
	"strings"

	"windtunnel.dev/controller/options"
)

// badServerName says why nginx would not take a name of a server; nil if it would.
func badServerName(name string) error {
	if pattern, ok := strings.CutPrefix(name, "~"); ok {
		if pattern == "" {
			return errors.New("an empty pattern")
		}
		return options.BadPattern(pattern)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "*"), "."), ".*")
	if len(name) > longestServerName || strings.Contains(inner, "*") || strings.Contains(name, "..") || strings.Trim(name, "*.") == "" ||
		strings.HasPrefix(name, "*") && !strings.HasPrefix(name, "*.") || strings.HasPrefix(name, "*.") && strings.HasSuffix(name, ".*") ||
		strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".*") {
		return errors.New("want a name, *.name, .name, name.*, or a pattern behind ~")
	}
	return nil
}

// longestServerName is that of DNS, and what a wildcard adds.
const longestServerName = 255
