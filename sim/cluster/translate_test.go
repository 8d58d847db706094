package cluster_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// letters writes a ConfigMap for each letter of a ConfigMap's value.
func letters(object *unstructured.Unstructured) (all []*unstructured.Unstructured, err error) {
	value, found, _ := unstructured.NestedString(object.Object, "data", "key")
	if !found || value == "" {
		return nil, errors.New("no letters")
	}
	for letter := range strings.SplitSeq(value, "") {
		one := object.DeepCopy()
		one.SetName(object.GetName() + "-" + letter)
		all = append(all, one)
	}
	return all, nil
}

func TestTranslatedObjects(t *testing.T) {
	plain, look := start(t)
	client := plain.Translated(letters)
	want := func(when, letters string) {
		t.Helper()
		list, err := look.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, one := range list.Items {
			if letter, ours := strings.CutPrefix(one.Name, "map-"); ours {
				got += letter
			}
		}
		if got != letters {
			t.Errorf("%s, the letters are %q, want %q", when, got, letters)
		}
	}
	if err := client.CreateAll(t.Context(), []*unstructured.Unstructured{configMap(t, "default", "map", "abc")}); err != nil {
		t.Fatal(err)
	}
	want("after the first write", "abc")
	if version, err := client.Put(t.Context(), configMap(t, "default", "map", "bd")); err != nil || version == "" {
		t.Fatal(version, err)
	}
	want("after the second", "bd")
	if _, err := client.Put(t.Context(), configMap(t, "default", "map", "")); err == nil {
		t.Error("an object that cannot be translated was written")
	}
	want("after a write that failed", "bd")
	if err := client.Delete(t.Context(), configMap(t, "default", "map", "xyz")); err != nil {
		t.Fatal(err)
	}
	want("after the deletion of the object with other data", "")
	if err := client.Delete(t.Context(), configMap(t, "default", "map", "b")); !apierrors.IsNotFound(err) {
		t.Errorf("a second deletion: %v", err)
	}
	if _, err := client.Put(t.Context(), configMap(t, "default", "map", "efg")); err != nil {
		t.Fatal(err)
	}
	if err := look.CoreV1().ConfigMaps("default").Delete(t.Context(), "map-g", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), configMap(t, "default", "map", "efg")); !apierrors.IsNotFound(err) {
		t.Errorf("a deletion of a translation with a missing part: %v", err)
	}
	want("after this deletion", "")
}

// If the API server refuses one object of a translation, the client still knows which objects of the
// previous translation exist.
func TestTranslationThatIsWrittenInPart(t *testing.T) {
	plain, look := start(t)
	refused := ""
	client := plain.Translated(func(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
		all, err := letters(object)
		for _, one := range all {
			if one.GetName() == refused {
				one.SetName("Not a name")
			}
		}
		return all, err
	})
	if _, err := client.Put(t.Context(), configMap(t, "default", "map", "ab")); err != nil {
		t.Fatal(err)
	}
	refused = "map-c"
	if _, err := client.Put(t.Context(), configMap(t, "default", "map", "cb")); err == nil {
		t.Fatal("an invalid name was written")
	}
	refused = ""
	if _, err := client.Put(t.Context(), configMap(t, "default", "map", "cb")); err != nil {
		t.Fatal(err)
	}
	if _, err := look.CoreV1().ConfigMaps("default").Get(t.Context(), "map-a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is no longer part of the translation still exists: %v", err)
	}
}
