package kubeapi

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// Selectors may use the selectable fields of a version, in lists and in watches. A watch sees an
// object added and deleted when its field changes. Other versions do not accept these fields.
func TestSelectableFields(t *testing.T) {
	s := start(t)
	define(t, s, strings.Replace(widgetDefinition, "    schema:\n", "    selectableFields: [{jsonPath: .spec.host}, {jsonPath: .spec.replicas}]\n    schema:\n", 1))
	all := dynamicClient(t, s.Config())
	c := all.Resource(widgets).Namespace("default")
	for _, name := range []string{"a", "b"} {
		if _, err := c.Create(t.Context(), widget(name, name+".example"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for selector, want := range map[string][]string{
		"spec.host=a.example": {"a"}, "spec.host!=a.example": {"b"}, "spec.replicas=1": {"a", "b"}, "spec.replicas=1,metadata.name=b": {"b"}, "spec.host=": nil,
	} {
		list, err := c.List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range list.Items {
			got = append(got, item.GetName())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s selects %v", selector, got)
		}
	}
	beta := widgets
	beta.Version = "v1beta1"
	if _, err := all.Resource(beta).Namespace("default").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.host=a.example"}); !errors.IsBadRequest(err) {
		t.Errorf("in another version: %v", err)
	}
	w, err := c.Watch(t.Context(), metav1.ListOptions{FieldSelector: "spec.host=c.example", ResourceVersion: object.FormatVersion(s.state.Version())})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, host := range []string{"c.example", "a.example"} {
		if _, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"host":"`+host+`"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"ADDED", "DELETED"} {
		if e := <-w.ResultChan(); string(e.Type) != want {
			t.Errorf("got %s, want %s", e.Type, want)
		}
	}
}
