package store

import (
	"testing"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// A stored custom object is a message like those of the built-in kinds: its version, finalizers and
// spec can be found without decoding it.
func TestStoredCustomObject(t *testing.T) {
	base := &resource.Resource{Group: "example.com", Version: "v1", Name: "widgets", Kind: "Widget", Custom: &resource.Custom{}}
	counted := &resource.Resource{Custom: &resource.Custom{}, Status: true}
	encode := func(spec, status any, finalizers ...string) *Object {
		obj := &object.Custom{Content: map[string]any{"spec": spec, "data": "x"}}
		obj.Name, obj.Finalizers = "a", finalizers
		if status != nil {
			obj.Content["status"] = status
		}
		return encoded(t, base, obj, 11)
	}
	plain, ready, other := encode("s", nil), encode("s", map[string]any{"ready": true}, "hold"), encode("t", nil)
	if plain.HasFinalizers() || !ready.HasFinalizers() {
		t.Error("finalizers are not found")
	}
	if !plain.SameSpec(ready, counted) || plain.SameSpec(ready, base) || plain.SameSpec(other, counted) {
		t.Error("spec and status are confused")
	}
	if !object.OverwriteVersion(ready.Raw, "12") || object.OverwriteVersion(ready.Raw, "123") {
		t.Error("versions are not overwritten")
	}
	obj, err := ready.Decode()
	if err != nil {
		t.Fatal(err)
	}
	if got := obj.(*object.Custom); got.ResourceVersion != "12" || got.Content["data"] != "x" || got.Content["status"].(map[string]any)["ready"] != true {
		t.Errorf("decoded %+v", got)
	}
}
