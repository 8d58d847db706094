package specfile

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Marshal returns a file: its first document, and the manifests. Equal input gives the same bytes.
func Marshal(first any, manifests []Manifest) ([]byte, error) {
	documents := []any{first}
	for _, m := range manifests {
		object := m.Object.DeepCopy()
		if m.Named {
			annotations := object.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[NameAnnotation] = m.Name
			object.SetAnnotations(annotations)
		}
		documents = append(documents, object.Object)
	}
	var file bytes.Buffer
	encoder := yaml.NewEncoder(&file)
	encoder.SetIndent(2)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}
