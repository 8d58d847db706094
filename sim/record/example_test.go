package record_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/record"
)

// This records a simulated cluster until its first change.
func ExampleRecord() {
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close(context.Background())

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	recording, err := record.Record(ctx, server.Config(), record.Options{
		Began:   func(services, pods, hosts int) { go newHost(server.Config()) },
		Changed: func(int) { stop() },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range recording.Changes {
		fmt.Println(c.Service, "at", c.Host)
	}
	// Output: recorded/default-web at shop.example
}

// newHost creates an Ingress while the cluster is recorded.
func newHost(config *rest.Config) {
	ingress := corpus.Ingress{
		Name: "shop", Host: "shop.example", Paths: []corpus.Path{{Prefix: "/", Service: "web"}},
	}.Object("default")
	client := kubernetes.NewForConfigOrDie(config).NetworkingV1().Ingresses("default")
	if _, err := client.Create(context.Background(), ingress, metav1.CreateOptions{}); err != nil {
		log.Print(err)
	}
}
