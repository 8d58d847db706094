package clusterfiles

import (
	"bytes"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/regress"
)

// OfCase returns the manifests of a case: the first version of each object, its ConfigMap, and
// a service for each of its pods.
func OfCase(c *behave.Case) ([]byte, error) {
	seen := map[string]bool{}
	var objects []any
	for _, m := range c.Manifests {
		if !seen[m.Identity()] {
			seen[m.Identity()] = true
			objects = append(objects, m.Object.Object)
			seen["Service/"+m.Object.GetName()] = seen["Service/"+m.Object.GetName()] || m.Object.GetKind() == "Service"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Pods)) {
		if !seen["Service/"+name] {
			objects = append(objects, map[string]any{
				"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name},
				"spec": map[string]any{"ports": []any{map[string]any{"port": 80}}},
			})
		}
	}
	if len(c.Config) > 0 {
		objects = append(objects, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": regress.ConfigMap.Namespace, "name": regress.ConfigMap.Name}, "data": c.Config,
		})
	}
	var text bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		text.WriteString("---\n")
		text.Write(document)
	}
	return text.Bytes(), nil
}
