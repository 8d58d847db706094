package kubeapi

import (
	"bytes"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const yamlType = "application/yaml"

// yamlCodec writes as YAML what jsonCodec writes as JSON. There are no watches in it.
type yamlCodec struct{ jsonCodec }

func (yamlCodec) mediaType() string { return yamlType }

func (c yamlCodec) object(o *object, keep bool) ([]byte, error) {
	return asYAML(c.jsonCodec.object(o, keep))
}

func (c yamlCodec) list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error {
	var body bytes.Buffer
	if err := c.jsonCodec.list(&body, res, objects, m); err != nil {
		return err
	}
	b, err := yaml.JSONToYAML(body.Bytes())
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

func (c yamlCodec) value(obj runtime.Object) ([]byte, error) { return asYAML(c.jsonCodec.value(obj)) }

func asYAML(b []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(b)
}
