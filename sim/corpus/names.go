package corpus

import "math/rand/v2"

// letters are the letters of the suffixes of generated names in Kubernetes
// (k8s.io/apimachinery/pkg/util/rand). There are no vowels, to avoid words.
const letters = "bcdfghjklmnpqrstvwxz2456789"

const suffixLength = 5

// Names generates pod names in the format of Kubernetes. It never returns a name twice.
type Names struct {
	chance *rand.Rand
	taken  map[string]bool
}

// NewNames returns a generator of random names that differ from those taken.
func NewNames(chance *rand.Rand, taken ...string) *Names {
	n := &Names{chance: chance, taken: make(map[string]bool, len(taken))}
	for _, name := range taken {
		n.taken[name] = true
	}
	return n
}

// Pod returns a name for a new pod of a service, such as svc-017-x2b4c.
func (n *Names) Pod(service string) string {
	for {
		name := service + "-" + suffix(n.chance.Uint64())
		if !n.taken[name] {
			n.taken[name] = true
			return name
		}
	}
}

// suffixes is the number of different suffixes.
const suffixes = 27 * 27 * 27 * 27 * 27

// suffix encodes a number, modulo suffixes, in letters.
func suffix(number uint64) string {
	var text [suffixLength]byte
	for i := range text {
		text[i] = letters[number%uint64(len(letters))]
		number /= uint64(len(letters))
	}
	return string(text[:])
}
