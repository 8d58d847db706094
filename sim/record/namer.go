package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// namer gives what is recorded its names: all lies in one namespace, so a
// service's has that of the cluster in it.
type namer struct {
	key []byte // of the hashes; nil: names stay as they are
}

func newNamer(hash bool) (namer, error) {
	if !hash {
		return namer{}, nil
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return namer{}, fmt.Errorf("making a key for the hashes: %w", err)
	}
	return namer{key}, nil
}

// hash is of a fixed length and a label of DNS. Without the key, which nobody
// keeps, names cannot be tried out.
func (n namer) hash(text string) string {
	mac := hmac.New(sha256.New, n.key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))[:12]
}

// longestService leaves room for the suffix of a pod's name.
const longestService = validation.DNS1035LabelMaxLength - 8

func (n namer) service(namespace, name string) string {
	if n.key != nil {
		return "svc-" + n.hash(namespace+"/"+name)
	}
	whole := namespace + "-" + name
	if len(whole) > longestService || len(validation.IsDNS1035Label(whole)) > 0 {
		return "svc-" + n.hash(namespace+"/"+name) // no key: the same for all
	}
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
