package kubeapi

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A body that the fast decoder accepts is stored as it was sent, and an unknown field still causes
// a warning.
func TestPlainJSONKeepsWarnings(t *testing.T) {
	s := start(t)
	var warned []string
	config := s.Config()
	config.ContentType = "application/json"
	config.WarningHandler = warnings(func(text string) { warned = append(warned, text) })
	c := client(t, config).CoreV1().RESTClient()
	body := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"},"dada":{}}`
	if err := c.Post().Resource("configmaps").Namespace("default").Body([]byte(body)).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	if len(warned) != 1 || warned[0] != `unknown field "dada"` {
		t.Errorf("warnings %q", warned)
	}
	cm, err := client(t, s.Config()).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || cm.Data["k"] != "v" {
		t.Errorf("got %v, %v", cm, err)
	}
}

type warnings func(string)

func (w warnings) HandleWarningHeader(_ int, _, text string) { w(text) }
