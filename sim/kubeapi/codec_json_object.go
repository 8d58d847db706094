package kubeapi

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// asJSON returns the object as a line of JSON. With keep the bytes are held for
// the next caller: for events that many watchers will read.
func asJSON(o *object, keep bool) ([]byte, error) {
	if b := o.json.Load(); b != nil {
		return *b, nil
	}
	obj, err := o.decode()
	if err != nil {
		return nil, err
	}
	return encodeJSON(o, obj, keep)
}

// encodeJSON is asJSON for who has the object decoded.
func encodeJSON(o *object, obj runtime.Object, keep bool) ([]byte, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s as JSON: %w", o.res.kind, o.key, err)
	}
	head := jsonHead(o.res)
	b := make([]byte, 0, len(head)+len(body))
	b = append(b, head...)
	b = append(b, body[1:]...) // without its opening brace, which head has
	b = append(b, '\n')
	if keep {
		o.json.Store(&b)
	}
	return b, nil
}

// jsonHead opens an object with its kind and apiVersion, which stored objects
// do not carry; they all go on with their metadata.
func jsonHead(res *resource) string {
	return `{"kind":"` + res.kind + `","apiVersion":"` + res.typeMeta("").APIVersion + `",`
}
