package kubeapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	pathpkg "path"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// continueToken is the position at which a list continues: a key relative to the list's namespace,
// or to all namespaces. With version -1 the list continues in the current objects; clients ask for
// that when their version has been compacted.
type continueToken struct {
	API     string `json:"v"`
	Version int64  `json:"rv"`
	Start   string `json:"start"`
}

const tokenAPI = "meta.k8s.io/v1"

// tokenAfter returns the token that continues after o in a list of a namespace, or of all
// namespaces if it is empty.
func tokenAfter(o *store.Object, namespace string, rv uint64) continueToken {
	below := strings.TrimPrefix(o.Key, namespace)
	return continueToken{tokenAPI, int64(rv), "/" + strings.TrimPrefix(below, "/") + "\x00"}
}

// key returns the first key of the rest of the list.
func (t continueToken) key(namespace string) string {
	return object.Key(namespace, strings.TrimPrefix(t.Start, "/"))
}

func (t continueToken) String() string {
	b, _ := json.Marshal(t) // strings and a number always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseToken(text string) (*continueToken, error) {
	var t continueToken
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid: %v", err))
	}
	return &t, nil
}

func (t continueToken) check() error {
	switch start := "/" + strings.TrimPrefix(t.Start, "/"); {
	case t.API != tokenAPI:
		return fmt.Errorf("server does not recognize this encoded version %s", t.API)
	case t.Version == 0:
		return fmt.Errorf("incorrect encoded start resourceVersion (version %s)", tokenAPI)
	case t.Start == "":
		return fmt.Errorf("encoded start key empty (version %s)", tokenAPI)
	case pathpkg.Clean(start) != start: // would lead out of the namespace
		return fmt.Errorf("%s", t.Start)
	}
	return nil
}
