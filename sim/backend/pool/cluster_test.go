package pool

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/cluster"
)

// TestCluster needs a cluster whose nodes have the image:
//
//	WINDTUNNEL_POOL_KUBECONFIG=FILE WINDTUNNEL_POOL_IMAGE=localhost/windtunnel:dev go test -run Cluster -v
//
// It logs how long commands through the API server take.
func TestCluster(t *testing.T) {
	file, image := os.Getenv("WINDTUNNEL_POOL_KUBECONFIG"), os.Getenv("WINDTUNNEL_POOL_IMAGE")
	if file == "" || image == "" {
		t.Skip("no WINDTUNNEL_POOL_KUBECONFIG and WINDTUNNEL_POOL_IMAGE")
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "windtunnel-pool-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
	})
	writer, err := cluster.New(config)
	if err != nil {
		t.Fatal(err)
	}
	const pods = 5
	shape := Spec{Namespace: namespace.Name, Name: "backends", Image: image, Replicas: pods + 1, Token: token}
	for _, typed := range shape.Objects() {
		object, err := cluster.Object(typed)
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.CreateAll(t.Context(), []*unstructured.Unstructured{object}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := Await(ctx, client, shape.Namespace, shape.Name, shape.Replicas); err != nil {
		t.Fatal(err)
	}
	f, err := Open(ctx, Options{Config: config, Namespace: shape.Namespace, Name: shape.Name, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	for i := range pods {
		name, began := fmt.Sprintf("demo/web-%d", i), time.Now()
		p, err := f.Start(name, "demo/web")
		if err != nil {
			t.Fatal(err)
		}
		started := time.Since(began)
		if err := p.Ready(); err != nil {
			t.Fatal(err)
		}
		ready := time.Since(began) - started
		answer, err := client.CoreV1().Pods(shape.Namespace).ProxyGet("", p.(*pod).member.name, fmt.Sprint(Port), "/", nil).DoRaw(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := backend.ParseIdentity(answer); err != nil || who.Pod != name || who.State != backend.Ready {
			t.Errorf("%s answers %+v, %v", p.Addr(), who, err)
		}
		t.Logf("%s at %v: started in %v, ready in %v", name, p.Addr(), started, ready)
	}
}
