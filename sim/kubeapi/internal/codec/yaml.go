package codec

import (
	"bytes"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

const YAMLType = "application/yaml"

// YAML writes as YAML what JSON writes as JSON. A watch cannot use it.
type YAML struct{ JSON }

func (YAML) MediaType() string { return YAMLType }

func (c YAML) Object(o *store.Object, keep bool) ([]byte, error) {
	return asYAML(c.JSON.Object(o, keep))
}

func (c YAML) List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error {
	var body bytes.Buffer
	if err := c.JSON.List(&body, res, objects, m); err != nil {
		return err
	}
	b, err := yaml.JSONToYAML(body.Bytes())
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

func (c YAML) Value(obj runtime.Object) ([]byte, error) { return asYAML(c.JSON.Value(obj)) }

func asYAML(b []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(b)
}
