package nginx

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	unknownDirective = regexp.MustCompile(`unknown directive "(\w+)"`)
	// badOption matches the message of headers-more about an unknown option.
	badOption = regexp.MustCompile(`(\w+): invalid option name: "([^"]+)"`)
)

// hint returns a text about the missing module that causes an error of nginx whose message does not
// name it. It is empty if no module is the cause.
func (n *Nginx) hint(message string) string {
	if match := unknownDirective.FindStringSubmatch(message); match != nil {
		for _, block := range []string{"http", "stream"} {
			if reason := n.lacks(block, match[1]); reason != "" {
				return "; " + reason
			}
		}
	}
	if match := badOption.FindStringSubmatch(message); match != nil {
		if module := moduleOf("http", match[1]); module != "" {
			return fmt.Sprintf("; the module %s of this nginx is too old for %s %s: install a newer one", module, match[1], match[2])
		}
	}
	return ""
}

// moduleOf returns the optional module that has a directive; empty if none has it.
func moduleOf(block, directive string) string {
	for _, owner := range owners {
		if owner.block == block && strings.HasPrefix(directive, owner.prefix) && strings.Contains(directive, owner.within) {
			return owner.module
		}
	}
	return ""
}
