// Package e2e_test runs the controller in a real cluster, with the manifests in deploy/ and real
// backend pods. Its one rule: traffic comes from outside the cluster, and every lost request has a
// known cause.
package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/kindcluster"
)

// TestE2E runs only with `make e2e`, which sets WINDTUNNEL_E2E.
func TestE2E(t *testing.T) {
	if os.Getenv("WINDTUNNEL_E2E") == "" {
		t.Skip("WINDTUNNEL_E2E is not set: run make e2e, which creates a cluster")
	}
	if err := kindcluster.Available(t.Context()); err != nil {
		t.Fatal(err)
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "the controller in a cluster")
}

// patience bounds a step of a spec.
const patience = 5 * time.Minute

// world describes the cluster for every process of the suite.
type world struct {
	Kubeconfig string
	Node       string // address of a node that no spec drains
	Workers    []string

	client  kubernetes.Interface
	objects *cluster.Client
}

var (
	made *kindcluster.Cluster // in the first process only
	here world
)

var _ = SynchronizedBeforeSuite(func(ctx context.Context) []byte {
	if GinkgoLabelFilter() == "scenarios" {
		return []byte("{}") // the scenarios create their own clusters
	}
	var err error
	made, err = kindcluster.Create(ctx, 0, kindcluster.Settings{Image: os.Getenv("KIND_IMAGE"), Workers: 2})
	Expect(err).NotTo(HaveOccurred())
	Expect(makeFork(ctx)).To(Succeed())
	for _, image := range []string{controllerImage, backendImage, forkImage} {
		Expect(made.Load(ctx, image)).To(Succeed())
	}
	w := world{Kubeconfig: made.Kubeconfig()}
	for _, node := range made.Nodes {
		if strings.HasSuffix(node.Name, "-control-plane") {
			w.Node = node.Address
		} else {
			w.Workers = append(w.Workers, node.Name)
		}
	}
	w.connect()
	w.install(ctx)
	encoded, err := json.Marshal(w)
	Expect(err).NotTo(HaveOccurred())
	return encoded
}, func(encoded []byte) {
	Expect(json.Unmarshal(encoded, &here)).To(Succeed())
	if here.Kubeconfig != "" {
		here.connect()
	}
}, NodeTimeout(15*time.Minute))

var _ = SynchronizedAfterSuite(func() {}, func() {
	if made == nil {
		return
	}
	Expect(made.Delete()).To(Succeed())
})

func (w *world) connect() {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(w.Kubeconfig))
	Expect(err).NotTo(HaveOccurred())
	config.QPS = -1
	w.client, err = kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	w.objects, err = cluster.New(config)
	Expect(err).NotTo(HaveOccurred())
}
