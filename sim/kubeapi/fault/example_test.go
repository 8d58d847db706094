package fault_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// ExampleFault defines a new fault: each request for a Secret gets the answer that the Secret does
// not exist.
func ExampleFault() {
	ctx := context.Background()
	server, err := kubeapi.Start(kubeapi.Options{
		HTTP:    "127.0.0.1:0",
		OnFault: func(hit fault.Hit) { fmt.Println("hit:", hit.Fault) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close(ctx)

	amnesia := fault.Fault{
		Name: "amnesia",
		Serve: func(c *fault.Call, _ http.ResponseWriter, _ func(http.ResponseWriter)) error {
			return apierrors.NewNotFound(schema.GroupResource{Resource: c.Resource}, c.Name)
		},
	}
	if _, err := server.Inject(amnesia, fault.Scope{Resources: []string{"secrets"}, Verbs: []string{"get"}}); err != nil {
		log.Fatal(err)
	}
	_, err = kubernetes.NewForConfigOrDie(server.Config()).CoreV1().Secrets("default").Get(ctx, "tls", metav1.GetOptions{})
	fmt.Println(err)
	// Output:
	// hit: amnesia
	// secrets "tls" not found
}
