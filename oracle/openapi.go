package main

import "strings"

// outlineOfOpenAPI returns the parts of an OpenAPI document that clients depend on: the groups of
// an index, the paths with the action of each method, the names of the kinds' schemas, and the full
// schemas of custom kinds. It leaves out descriptions, parameters that all paths have, and nested
// types.
func outlineOfOpenAPI(doc any) any {
	if text, ok := doc.(string); ok { // the real server's index has a text media type
		if read, err := parseJSON([]byte(text)); err == nil {
			doc = read
		}
	}
	document, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	paths, schemas := map[string]any{}, map[string]any{}
	for path, item := range fieldsOf(document["paths"]) {
		paths[path] = outlineOfPath(fieldsOf(item))
	}
	all := fieldsOf(document["definitions"]) // v2
	if all == nil {
		all = fieldsOf(fieldsOf(document["components"])["schemas"])
	}
	for name, schema := range all {
		switch {
		case !strings.HasPrefix(name, "io.k8s."):
			schemas[name] = withoutProse(schema)
		case fieldsOf(schema)["x-kubernetes-group-version-kind"] != nil:
			schemas[name] = "there"
		}
	}
	return map[string]any{"paths": paths, "schemas": schemas}
}

func fieldsOf(v any) map[string]any {
	fields, _ := v.(map[string]any)
	return fields
}

func outlineOfPath(item map[string]any) any {
	if url, ok := item["serverRelativeURL"].(string); ok { // in an index
		url, _, _ = strings.Cut(url, "?hash=")
		return url
	}
	methods := map[string]any{}
	for method, operation := range item {
		if action, ok := fieldsOf(operation)["x-kubernetes-action"]; ok {
			methods[method] = action
		}
	}
	return methods
}

// withoutProse returns a schema without descriptions.
func withoutProse(schema any) any {
	switch schema := schema.(type) {
	case map[string]any:
		plain := map[string]any{}
		for name, value := range schema {
			if _, text := value.(string); name != "description" || !text {
				plain[name] = withoutProse(value)
			}
		}
		return plain
	case []any:
		plain := make([]any, len(schema))
		for i, item := range schema {
			plain[i] = withoutProse(item)
		}
		return plain
	}
	return schema
}
