// Package openapi describes resources in OpenAPI documents. It stands between the table of served
// resources and kubectl explain, kubectl apply and the field managers. Its one rule: the documents
// are built from Go types and custom schemas alone.
package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Document is a JSON object.
type Document = map[string]any

// Published is an encoded document, with the hash that clients cache it by.
type Published struct {
	Body []byte
	Hash string
}

// Publish encodes a document.
func Publish(d Document) (Published, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return Published{}, fmt.Errorf("encoding an OpenAPI document: %w", err)
	}
	return Published{body, fmt.Sprintf("%X", sha512.Sum512(body))}, nil
}

// GroupPath is the path of a group version, without a leading slash.
func GroupPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}
