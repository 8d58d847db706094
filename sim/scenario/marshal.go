package scenario

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Marshal returns the scenario as a file, with its defaults filled in. Parse reads that file back
// to the same scenario.
func (s *Scenario) Marshal() ([]byte, error) {
	documents := []any{document{APIVersion: APIVersion, Kind: Kind, Metadata: metadata{Name: s.Name}, Spec: s.Spec}}
	for _, m := range s.Manifests {
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
			return nil, fmt.Errorf("write scenario %s: %w", s.Name, err)
		}
	}
	return file.Bytes(), nil
}
