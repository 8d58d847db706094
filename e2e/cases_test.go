package e2e_test

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"windtunnel.dev/sim/behave"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver/installed"
	"windtunnel.dev/sim/subject"
)

// casesHere are cases that need no settings of the controller.
var casesHere = []string{"auth/basic", "backends/grpc", "canary/promoted", "cors/origin", "errors/custom-http-errors", "mirror/other-path", "redirects/app-root", "routing/rewrite-target", "sessions/default"}

var _ = Describe("behaviour cases on this installation", Label("cases"), Serial, func() {
	It("pass with real pods behind two replicas, and leave nothing behind", func(ctx context.Context) {
		config, err := clientcmd.RESTConfigFromKubeConfig([]byte(here.Kubeconfig))
		Expect(err).NotTo(HaveOccurred())
		var cases []*behave.Case
		for _, name := range casesHere {
			c, err := behave.Load(filepath.Join("..", "cases", filepath.FromSlash(name)+".yaml"), behave.Known{})
			Expect(err).NotTo(HaveOccurred())
			cases = append(cases, c)
		}
		_, all := caserun.Pods(cases)
		d, err := installed.Open(ctx, installed.Options{
			API: config, URLs: []string{"http://" + here.listener(ctx, "http").String(), "https://" + here.listener(ctx, "https").String()},
			Class: "nginx", Pool: installed.PoolFor(all), Image: backendImage, Tell: func(notice string) { AddReportEntry(notice) },
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Replicas).To(Equal(2))
		results, err := caserun.Do(ctx, caserun.Options{Cases: cases, Driver: d, Subject: subject.Subject{Name: "installed"}, Bundled: true, Dir: GinkgoT().TempDir()})
		Expect(err).NotTo(HaveOccurred())
		for _, result := range results {
			Expect(result.Outcome).To(Equal(behave.Passed), "%+v", result)
		}
		left, err := here.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: installed.RunLabel})
		Expect(err).NotTo(HaveOccurred())
		Expect(left.Items).To(BeEmpty())
	}, NodeTimeout(10*time.Minute))
})
