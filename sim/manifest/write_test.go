package manifest

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestWrittenObjectsCanBeRead(t *testing.T) {
	var file bytes.Buffer
	err := Write(&file, []runtime.Object{
		&corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "b"}, Data: map[string]string{"text": "---\nnot a document\n"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"status", "creationTimestamp"} {
		if strings.Contains(file.String(), word) {
			t.Errorf("the file has %s:\n%s", word, &file)
		}
	}
	all, err := Parse("f.yaml", file.Bytes())
	if err != nil || len(all) != 2 || all[0].Object.GetName() != "a" || all[1].Object.GetName() != "b" {
		t.Fatalf("read %v, %v", all, err)
	}
	if text := all[1].Object.Object["data"].(map[string]any)["text"]; text != "---\nnot a document\n" {
		t.Errorf("read %q", text)
	}
}
