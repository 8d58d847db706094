package corpus

import "math/rand/v2"

// letters are those that Kubernetes ends generated names with
// (k8s.io/apimachinery/pkg/util/rand): no vowels, so no words.
const letters = "bcdfghjklmnpqrstvwxz2456789"

const suffixLength = 5

// Names gives pods names as Kubernetes does, and no name twice.
type Names struct {
	chance *rand.Rand
	taken  map[string]bool
}

// NewNames returns names that chance picks, other than those taken.
func NewNames(chance *rand.Rand, taken ...string) *Names {
	n := &Names{chance: chance, taken: make(map[string]bool, len(taken))}
	for _, name := range taken {
		n.taken[name] = true
	}
	return n
}

// Pod names a new pod of a service: svc-017-x2b4c.
func (n *Names) Pod(service string) string {
	for {
		name := service + "-" + suffix(n.chance.Uint64())
		if !n.taken[name] {
			n.taken[name] = true
			return name
		}
	}
}

// suffixes is how many suffixes there are.
const suffixes = 27 * 27 * 27 * 27 * 27

// suffix writes a number, modulo suffixes, in letters.
func suffix(number uint64) string {
	var text [suffixLength]byte
	for i := range text {
		text[i] = letters[number%uint64(len(letters))]
		number /= uint64(len(letters))
	}
	return string(text[:])
}
