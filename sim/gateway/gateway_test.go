package gateway_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/gateway"
)

// TestTranslate has a file for each kind of object, with its translation, or the reason why there is none.
func TestTranslate(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	gateways := gateway.Gateways{Controller: "example.com/gateways", Namespace: "system", HTTP: 8080, HTTPS: 8443}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(archive.Files[0].Data, &object.Object); err != nil {
				t.Fatal(err)
			}
			before := object.DeepCopy()
			var out bytes.Buffer
			objects, err := gateways.Translate(object)
			if err != nil {
				out.WriteString(err.Error() + "\n")
			}
			for i, one := range objects {
				text, err := yaml.Marshal(one.DeepCopy().Object) // DeepCopy panics for values that JSON does not have
				if err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					out.WriteString("---\n")
				}
				out.Write(text)
			}
			if !bytes.Equal(asYAML(t, before), asYAML(t, object)) {
				t.Error("it changed the object")
			}
			archive.Files = append(archive.Files[:1], txtar.File{Name: "want", Data: out.Bytes()})
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

func asYAML(t *testing.T, object *unstructured.Unstructured) []byte {
	t.Helper()
	text, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
