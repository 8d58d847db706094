package object

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// Custom is an object of a custom resource: metadata, which the server understands, and content,
// which only its clients understand. It is stored without kind and apiVersion, because these differ
// from version to version.
type Custom struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Content map[string]any // everything except kind, apiVersion and metadata
}

func (c *Custom) DeepCopyObject() runtime.Object {
	return &Custom{c.TypeMeta, *c.ObjectMeta.DeepCopy(), runtime.DeepCopyJSON(c.Content)}
}

// Marshal returns a protobuf message with the layout of the built-in kinds: field 1 is the
// metadata, field 3 the status, and field 2 everything else. Fields 2 and 3 are JSON.
func (c *Custom) Marshal() ([]byte, error) {
	metadata, err := c.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	raw := append(AppendTag(nil, MetadataField, len(metadata)), metadata...)
	rest := maps.Clone(c.Content)
	delete(rest, "status")
	if raw, err = appendJSON(raw, contentField, rest); err != nil {
		return nil, err
	}
	if status, ok := c.Content["status"]; ok {
		return appendJSON(raw, StatusField, status)
	}
	return raw, nil
}

const contentField = 2

func appendJSON(raw []byte, number byte, value any) ([]byte, error) {
	b, err := json.Marshal(value)
	return append(AppendTag(raw, number, len(b)), b...), err
}

func (c *Custom) Unmarshal(raw []byte) error {
	*c = Custom{}
	_, metadata, _ := Cut(raw, MetadataField)
	if err := c.ObjectMeta.Unmarshal(metadata); err != nil {
		return err
	}
	_, rest, _ := Cut(raw, contentField)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(rest, &c.Content); err != nil {
		return err
	}
	if c.Content == nil {
		c.Content = map[string]any{}
	}
	_, encoded, _ := Cut(raw, StatusField)
	if encoded == nil {
		return nil
	}
	var status any
	err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &status)
	c.Content["status"] = status
	return err
}

func (c *Custom) MarshalJSON() ([]byte, error) { return c.encode(c.TypeMeta) }

func (c *Custom) encode(t metav1.TypeMeta) ([]byte, error) {
	all := maps.Clone(c.Content)
	if all == nil {
		all = map[string]any{}
	}
	all["metadata"] = &c.ObjectMeta
	if t.Kind != "" {
		all["kind"], all["apiVersion"] = t.Kind, t.APIVersion
	}
	return json.Marshal(all)
}

func (c *Custom) UnmarshalJSON(b []byte) error {
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &content); err != nil {
		return err
	}
	_, err := c.FromUnstructured(content)
	return err
}

// FromUnstructured sets c to content, a whole object, and keeps content. It also returns the
// unknown fields of the metadata.
func (c *Custom) FromUnstructured(content map[string]any) (unknown []error, err error) {
	*c = Custom{}
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
	c.Content = content
	return unknown, nil
}

func (c *Custom) setStatus(from *Custom) {
	if status, ok := from.Content["status"]; ok {
		c.Content["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(c.Content, "status")
	}
}

// ToUnstructured returns the object as schemas, columns and paths read it: with its kind and
// metadata.
func (c *Custom) ToUnstructured(t metav1.TypeMeta) (map[string]any, error) {
	b, err := c.encode(t)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, kjson.UnmarshalCaseSensitivePreserveInts(b, &all)
}
