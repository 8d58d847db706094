package nginx

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	unknownDirective = regexp.MustCompile(`unknown directive "(\w+)"`)
	// badOption is how headers-more says that it does not know an option.
	badOption = regexp.MustCompile(`(\w+): invalid option name: "([^"]+)"`)
)

// hint says which module is behind a complaint of nginx's, where its words do
// not; empty if none is.
func (n *Nginx) hint(said string) string {
	if match := unknownDirective.FindStringSubmatch(said); match != nil {
		for _, block := range []string{"http", "stream"} {
			if reason := n.lacks(block, match[1]); reason != "" {
				return "; " + reason
			}
		}
	}
	if match := badOption.FindStringSubmatch(said); match != nil {
		if module := moduleOf("http", match[1]); module != "" {
			return fmt.Sprintf("; the module %s of this nginx is too old for %s %s: install a newer one", module, match[1], match[2])
		}
	}
	return ""
}

// moduleOf is the module that a directive comes from, empty if that is none of
// those that may be missing.
func moduleOf(block, directive string) string {
	for _, owner := range owners {
		if owner.block == block && strings.HasPrefix(directive, owner.prefix) && strings.Contains(directive, owner.within) {
			return owner.module
		}
	}
	return ""
}
