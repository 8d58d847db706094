package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/kubeapi"
)

func start(t *testing.T) (*cluster.Client, kubernetes.Interface) {
	t.Helper()
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	client, err := cluster.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client, kubernetes.NewForConfigOrDie(server.Config())
}

func configMap(t *testing.T, namespace, name, value string) *unstructured.Unstructured {
	t.Helper()
	object, err := cluster.Object(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"key": value},
	})
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestPutCreatesThenReplaces(t *testing.T) {
	client, look := start(t)
	first, err := client.Put(t.Context(), configMap(t, "default", "a", "1"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.Put(t.Context(), configMap(t, "default", "a", "2"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := look.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Data["key"] != "2" || got.ResourceVersion != second || first == second {
		t.Errorf("it has %v at version %s; the writes gave %s and %s", got.Data, got.ResourceVersion, first, second)
	}
}

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com",
"scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// A custom resource cannot be replaced without its version, whoever has written it in between.
func TestPutReplacesCustomResources(t *testing.T) {
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	define := &unstructured.Unstructured{}
	if err := define.UnmarshalJSON([]byte(widgets)); err != nil {
		t.Fatal(err)
	}
	client, err := cluster.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), define); err != nil {
		t.Fatal(err)
	}
	if client, err = cluster.New(server.Config()); err != nil {
		t.Fatal(err)
	}
	versions := map[string]bool{}
	for _, size := range []string{"1", "2", "3"} {
		version, err := client.Put(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a", "namespace": "default"}, "size": size,
		}})
		if err != nil {
			t.Fatal(err)
		}
		versions[version] = true
	}
	if len(versions) != 3 {
		t.Errorf("the writes gave the versions %v", versions)
	}
}

func TestNamespacesAreCreatedFirst(t *testing.T) {
	client, look := start(t)
	namespace, err := cluster.Object(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo"}})
	if err != nil {
		t.Fatal(err)
	}
	objects := []*unstructured.Unstructured{configMap(t, "demo", "a", "1"), configMap(t, "demo", "b", "1"), namespace}
	if err := client.CreateAll(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	list, err := look.CoreV1().ConfigMaps("demo").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d ConfigMaps, error %v", len(list.Items), err)
	}
}

func TestErrorsNameTheObject(t *testing.T) {
	client, _ := start(t)
	unknown := configMap(t, "default", "a", "1")
	unknown.SetKind("Gadget")
	_, ofKind := client.Put(t.Context(), unknown)
	_, ofNamespace := client.Put(t.Context(), configMap(t, "nowhere", "a", "1"))
	for want, err := range map[string]error{
		"Gadget default/a":               ofKind,
		"ConfigMap nowhere/a":            ofNamespace,
		"deleting ConfigMap default/a: ": client.Delete(t.Context(), configMap(t, "default", "a", "1")),
		"creating ConfigMap nowhere/a":   client.CreateAll(t.Context(), []*unstructured.Unstructured{configMap(t, "nowhere", "a", "1")}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not contain %q", err, want)
		}
	}
}

// Retry retries until ctx ends, and not longer.
func TestRetriesEndWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	down, tries := errors.New("connection refused"), 0
	err := cluster.Retry(ctx, func(context.Context) (bool, error) {
		if tries++; tries == 2 {
			end()
		}
		return false, down
	})
	if tries != 2 || !errors.Is(err, down) || !errors.Is(err, context.Canceled) {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

// A try that the end of ctx cuts off does not hide the previous answer.
func TestLastAnswerOfRetries(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	down, tries := errors.New("connection refused"), 0
	err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		if tries++; tries == 2 {
			end()
			return false, ctx.Err()
		}
		return false, down
	})
	if !errors.Is(err, down) {
		t.Error(err)
	}
}
