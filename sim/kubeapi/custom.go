package kubeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// custom is what a resource has beyond its row when it is a version of a
// CustomResourceDefinition; nil for the built-in ones.
type custom struct {
	structural *schema.Structural  // nil: everything goes
	scale      *scalePaths         // nil: no scale subresource
	selectable map[string][]string // paths of the fields that selectors may name, by their names
	managers   sync.Map            // as fieldManagers, for this kind
}

func (c *custom) scales() bool { return c != nil && c.scale != nil }

// customObject is an object of a custom resource: metadata, which the server
// understands, and content, which only its clients do. It is stored without kind
// and apiVersion, which differ from version to version.
type customObject struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	content map[string]any // all but kind, apiVersion and metadata
}

func (c *customObject) DeepCopyObject() runtime.Object {
	return &customObject{c.TypeMeta, *c.ObjectMeta.DeepCopy(), runtime.DeepCopyJSON(c.content)}
}

// Marshal makes a protobuf message like those of built-in kinds: metadata is
// field 1, status is field 3, and what is between them is the rest. The two
// latter are JSON.
func (c *customObject) Marshal() ([]byte, error) {
	metadata, err := c.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	raw := append(appendTag(nil, metadataField, len(metadata)), metadata...)
	rest := maps.Clone(c.content)
	delete(rest, "status")
	if raw, err = appendJSON(raw, contentField, rest); err != nil {
		return nil, err
	}
	if status, ok := c.content["status"]; ok {
		return appendJSON(raw, statusField, status)
	}
	return raw, nil
}

const contentField = 2

func appendJSON(raw []byte, number byte, value any) ([]byte, error) {
	b, err := json.Marshal(value)
	return append(appendTag(raw, number, len(b)), b...), err
}

func (c *customObject) Unmarshal(raw []byte) error {
	*c = customObject{}
	_, metadata, _ := cut(raw, metadataField)
	if err := c.ObjectMeta.Unmarshal(metadata); err != nil {
		return err
	}
	_, rest, _ := cut(raw, contentField)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(rest, &c.content); err != nil {
		return err
	}
	if c.content == nil {
		c.content = map[string]any{}
	}
	_, encoded, _ := cut(raw, statusField)
	if encoded == nil {
		return nil
	}
	var status any
	err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &status)
	c.content["status"] = status
	return err
}

func (c *customObject) MarshalJSON() ([]byte, error) { return c.encode(c.TypeMeta) }

func (c *customObject) encode(t metav1.TypeMeta) ([]byte, error) {
	all := maps.Clone(c.content)
	if all == nil {
		all = map[string]any{}
	}
	all["metadata"] = &c.ObjectMeta
	if t.Kind != "" {
		all["kind"], all["apiVersion"] = t.Kind, t.APIVersion
	}
	return json.Marshal(all)
}

func (c *customObject) UnmarshalJSON(b []byte) error {
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &content); err != nil {
		return err
	}
	_, err := c.fill(content)
	return err
}

// fill makes c of content, which is a whole object and which it keeps. It also
// returns the fields of its metadata that there should not be.
func (c *customObject) fill(content map[string]any) (unknown []error, err error) {
	*c = customObject{}
	if metadata, ok := content["metadata"]; ok {
		b, err := json.Marshal(metadata)
		if err != nil {
			return nil, err
		}
		if unknown, err = kjson.UnmarshalStrict(b, &c.ObjectMeta, kjson.DisallowUnknownFields); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	c.Kind, _ = content["kind"].(string)
	c.APIVersion, _ = content["apiVersion"].(string)
	for _, known := range []string{"metadata", "kind", "apiVersion"} {
		delete(content, known)
	}
	c.content = content
	return unknown, nil
}

func (c *customObject) setStatus(from *customObject) {
	if status, ok := from.content["status"]; ok {
		c.content["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(c.content, "status")
	}
}

// whole is the object as its schema, columns and paths see it.
func (c *customObject) whole(t metav1.TypeMeta) (map[string]any, error) {
	b, err := c.encode(t)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, kjson.UnmarshalCaseSensitivePreserveInts(b, &all)
}
