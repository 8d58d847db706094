package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterdriver "windtunnel.dev/sim/driver/cluster"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// A scenario runs in the suite's cluster, beside the installed controller.
var _ = Describe("a run in a cluster that is there", Label("cluster"), Ordered, Serial, func() {
	for _, pods := range []int{1, 2, 4} {
		It("has "+strconv.Itoa(pods)+" traffic pods, and leaves nothing behind", func(ctx context.Context) {
			result := runInCluster(ctx, "cluster-"+strconv.Itoa(pods), "--traffic-pods="+strconv.Itoa(pods), "../scenarios/endpoints/rolling-update-drain.yaml")
			checkClocks(result.Subjects[0], pods)
			left, err := here.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: clusterdriver.RunLabel})
			Expect(err).NotTo(HaveOccurred())
			Expect(left.Items).To(BeEmpty())
			classes, err := here.client.NetworkingV1().IngressClasses().List(ctx, metav1.ListOptions{LabelSelector: clusterdriver.RunLabel})
			Expect(err).NotTo(HaveOccurred())
			Expect(classes.Items).To(BeEmpty())
		}, NodeTimeout(10*time.Minute))
	}

	// The controller gets other roles than for a single namespace, and selects its namespaces by their label.
	It("runs a scenario with objects in several namespaces, and leaves none of them", func(ctx context.Context) {
		file := filepath.Join(GinkgoT().TempDir(), "several.yaml")
		Expect(os.WriteFile(file, []byte(severalNamespaces), 0o600)).To(Succeed())
		s := runInCluster(ctx, "cluster-several", file).Subjects[0]
		Expect(s.Changes.Made).To(Equal(3))
		Expect(s.Changes.Unconverged).To(BeZero())
		left, err := here.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: clusterdriver.RunLabel})
		Expect(err).NotTo(HaveOccurred())
		Expect(left.Items).To(BeEmpty())
	}, NodeTimeout(10*time.Minute))

	// Linux hides such processes from the observer, so the driver starts the controller again without capabilities.
	It("observes a controller whose programs have file capabilities", func(ctx context.Context) {
		s := runInCluster(ctx, "cluster-fork", "--subject=image:"+forkImage, "../scenarios/faults/worker-kill.yaml").Subjects[0]
		Expect(s.Workers.Replaced).To(Equal(1))
		Expect(s.Changes.Unconverged).To(BeZero())
		Expect(s.Requests.Sent).To(BeNumerically(">", 0))
		Expect(strings.Join(s.Trouble, "\n")).NotTo(ContainSubstring("permission denied"))
	}, NodeTimeout(10*time.Minute))
})

// severalNamespaces is a scenario whose ingress in a second namespace, without pods, answers 503.
const severalNamespaces = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: several}
spec:
  population: {services: 2}
  traffic: [{lane: http, rate: 20/s}]
  timeline:
  - {at: 0s, apply: shop}
  - {at: 1s, apply: web}
  - {at: 2s, apply: route, see: {host: shop.example, status: 503}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Service, metadata: {namespace: shop, name: web}, spec: {ports: [{name: http, port: 80}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {namespace: shop, name: route}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// runInCluster runs a scenario with the driver cluster in the suite's cluster. It returns the result, which may
// be void, because this machine is the cluster as well.
func runInCluster(ctx context.Context, name string, args ...string) (result measure.Result) {
	GinkgoHelper()
	out := filepath.Join("../runs/e2e", name)
	Expect(os.RemoveAll(out)).To(Succeed())
	kubeconfig := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(os.WriteFile(kubeconfig, []byte(here.Kubeconfig), 0o600)).To(Succeed())
	command := exec.CommandContext(ctx, "../bin/windtunnel", append([]string{"run", "--driver=cluster", "--kubeconfig=" + kubeconfig, "--out=" + out}, args...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 3 * time.Minute
	said, err := command.CombinedOutput()
	AddReportEntry("output", string(said))
	if command.ProcessState.ExitCode() != void {
		Expect(err).NotTo(HaveOccurred(), "%s", said)
	}
	text, err := os.ReadFile(filepath.Join(out, "result.json"))
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(text, &result)).To(Succeed())
	return result
}

// checkClocks checks the clocks of a run, and that no observation is missing. The nodes of kind share
// the machine's clock, so their true offset is zero, and each measured offset must be within its bound.
func checkClocks(s measure.Subject, pods int) {
	GinkgoHelper()
	Expect(s.Missing).To(BeEmpty())
	Expect(s.Requests.Sent).To(BeNumerically(">", 0))
	Expect(s.Changes.Unconverged).To(BeZero())
	traffic := 0
	for _, c := range s.Clocks {
		if c.Role == event.TrafficClock {
			traffic++
		}
		Expect(c.Offset.Abs()).To(BeNumerically("<=", c.Bound+time.Millisecond), "%+v", c)
	}
	Expect(traffic).To(Equal(pods))
}
