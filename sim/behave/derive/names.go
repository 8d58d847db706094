package derive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// word is what requests contain where anything may be.
const word = "windtunnel"

// longestName leaves room for the suffixes of names that are made from it; a label may have 63
// characters.
const longestName = 40

// nameOf returns the name of the case of some ingresses, which no other case has.
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

// label returns a DNS label for a text. Texts that are too long end in their hash.
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
