package kubeapi_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// Start runs a server on a free port. client-go works with it as with any cluster.
func Example() {
	ctx := context.Background()
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close(ctx)

	client := kubernetes.NewForConfigOrDie(server.Config())
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	created, err := client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the server's default:", created.Spec.Type)

	_, err = client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{})
	fmt.Println(err)
	// Output:
	// the server's default: ClusterIP
	// services "web" already exists
}

// The next list of Services is refused, the one after it is not.
func ExampleServer_Inject() {
	ctx := context.Background()
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close(ctx)
	services := kubernetes.NewForConfigOrDie(server.Config()).CoreV1().Services("default")

	heal, err := server.Inject(fault.Forbidden(), fault.Scope{
		Resources: []string{"services"}, Verbs: []string{"list"}, Count: 1,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer heal()

	for range 2 {
		_, err := services.List(ctx, metav1.ListOptions{})
		fmt.Println("forbidden:", apierrors.IsForbidden(err))
	}
	// Output:
	// forbidden: true
	// forbidden: false
}
