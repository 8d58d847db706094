package kubeapi

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The server refuses a custom object or stores it so that decoding the stored bytes returns the
// same object.
func FuzzCustomObject(f *testing.F) {
	s, err := newServer(Options{Anonymous: true})
	if err != nil {
		f.Fatal(err)
	}
	handler := s.handler()
	send := func(method, path, contentType string, body []byte) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, "http://localhost"+path, bytes.NewReader(body))
		req.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w
	}
	if w := send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/yaml", []byte(widgetDefinition)); w.Code != http.StatusCreated {
		f.Fatal(w.Body)
	}
	for _, seed := range []string{
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"host":"h","free":{"x":[1,2.5,null,"t",true]}}}`,
		`{"metadata":null,"spec":{"host":"h","replicas":null}}`, `{"metadata":[],"spec":7}`, `{"kind":1,"apiVersion":{},"spec":{"host":"h"}}`,
		`null`, `[]`, `{"spec":{"host":"h","tags":[[],{}]},"status":{"a":1e400}}`, `{"spec":{"host":"h","host":"i","replicas":99999999999999999999}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, version := range []string{"v1", "v1beta1"} {
			path := "/apis/example.com/" + version + "/namespaces/default/widgets"
			w := send("POST", path, "application/json", body)
			if w.Code >= 500 && !bytes.Contains(w.Body.Bytes(), []byte("resourceVersion should not be set")) {
				t.Fatalf("got %d %s", w.Code, w.Body)
			}
			if w.Code != http.StatusCreated {
				continue
			}
			made := &unstructured.Unstructured{}
			if err := made.UnmarshalJSON(w.Body.Bytes()); err != nil {
				t.Fatal(err)
			}
			again := send("PUT", path+"/"+made.GetName(), "application/json", w.Body.Bytes())
			if again.Code != http.StatusOK || !bytes.Equal(again.Body.Bytes(), w.Body.Bytes()) {
				t.Errorf("created %s\nput again: %d %s", w.Body, again.Code, again.Body)
			}
			send("DELETE", path+"/"+made.GetName(), "application/json", nil)
			send("PATCH", path+"/"+made.GetName(), "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		}
	})
}

// Definitions are created and deleted while their objects are written, read and watched: the server
// answers every request, and nothing is left at the end.
func TestDefinitionsChangeUnderLoad(t *testing.T) {
	t.Parallel()
	s := start(t)
	crds := definitions(t, s).ApiextensionsV1().CustomResourceDefinitions()
	objects := dynamicClient(t, s.Config()).Resource(widgets).Namespace("default")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !closed(stop) {
				w := widget("", "h")
				w.SetGenerateName("w-")
				_, err := objects.Create(context.Background(), w, metav1.CreateOptions{})
				if err != nil && !errors.IsNotFound(err) && !errors.IsForbidden(err) {
					t.Error(err)
				}
				if _, err := objects.List(context.Background(), metav1.ListOptions{}); err != nil && !errors.IsNotFound(err) {
					t.Error(err)
				}
				if s.state.Served().Find(apiextensionsv1.SchemeGroupVersion, "customresourcedefinitions") == nil {
					t.Error("the definitions themselves are gone")
				}
			}
		})
	}
	for range 20 {
		define(t, s, widgetDefinition)
		w, err := objects.Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		<-w.ResultChan() // at least one write has succeeded
		check(t, crds.Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
		for range w.ResultChan() { // the watch ends with its definition
		}
	}
	close(stop)
	wg.Wait()
	if n, ok := s.Holds()["widgets.example.com"]; ok {
		t.Errorf("%d objects remain", n)
	}
}
