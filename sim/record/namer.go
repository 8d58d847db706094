package record

import (
	"crypto/rand"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/internal/namehash"
)

// namer returns the names of recorded objects. A recording has a single namespace, so the name of a
// service includes its original namespace.
type namer struct {
	key   []byte            // of the hashes; nil keeps the names
	owner map[string]string // the service, as NAMESPACE/NAME, of each kept name
}

func newNamer(hash bool) (namer, error) {
	if !hash {
		return namer{owner: map[string]string{}}, nil
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return namer{}, fmt.Errorf("create a key for the hashes: %w", err)
	}
	return namer{key: key}, nil
}

// hash returns a DNS label of fixed length. The key is not stored, so nobody can test guesses of
// names against the hashes.
func (n namer) hash(text string) string {
	return namehash.Of(n.key, text)
}

// longestService leaves room for the suffix of a pod's name.
const longestService = validation.DNS1035LabelMaxLength - 8

func (n namer) service(namespace, name string) string {
	if n.key != nil {
		return "svc-" + n.hash(namespace+"/"+name)
	}
	whole, of := namespace+"-"+name, namespace+"/"+name
	if owner, taken := n.owner[whole]; taken && owner != of || len(whole) > longestService || len(validation.IsDNS1035Label(whole)) > 0 {
		return "svc-" + n.hash(of) // without a key, so that it is the same in every recording
	}
	n.owner[whole] = of
	return whole
}

func (n namer) host(host string) string {
	if n.key == nil {
		return host
	}
	return n.hash(host) + ".example"
}

func (n namer) path(path string) string {
	if n.key == nil || path == "/" {
		return path
	}
	var hashed []string
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		hashed = append(hashed, n.hash(part))
	}
	return "/" + strings.Join(hashed, "/")
}
