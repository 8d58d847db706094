package derive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// word fills the parts of requests whose content does not matter.
const word = "windtunnel"

// longestName is the maximum length of a name. It leaves room for suffixes: a label may have 63
// characters.
const longestName = 40

// nameOf returns a unique name for the case of some ingresses.
func nameOf(members []*ingress, taken map[string]bool) string {
	return unique(label(members[0].Namespace+"-"+members[0].Name), taken)
}

// unique returns the name, with a number if it is taken, and takes it.
func unique(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	taken[free] = true
	return free
}

// label returns a DNS label for a text. A text that is too long is cut, and ends in its hash.
func label(text string) string {
	made := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(text)), "-")
	if len(made) > longestName {
		sum := sha256.Sum256([]byte(text))
		made = strings.Trim(made[:longestName-7], "-") + "-" + hex.EncodeToString(sum[:3])
	}
	if made == "" || made[0] >= '0' && made[0] <= '9' { // names of services begin with a letter
		made = "n" + made
	}
	return made
}
