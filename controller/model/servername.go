package model

import (
	"errors"
	"strings"

	"windtunnel.dev/controller/options"
)

// badServerName returns an error if nginx would reject the name in server_name.
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
		return errors.New("want a name, *.name, .name, name.*, or ~ and a pattern")
	}
	return nil
}

// longestServerName is the limit of DNS plus a wildcard, in bytes.
const longestServerName = 255
