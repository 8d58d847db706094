package e2e_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("TCP and UDP services", Label("l4"), func() {
	It("reach their pods", func(ctx context.Context) {
		ns := namespace(ctx, "l4")
		backend(ctx, ns, "tcp", 1)
		backend(ctx, ns, "udp", 1)
		for lane, service := range map[string]string{"tcp": "tcp", "udp": "udp"} {
			Eventually(func(g Gomega) {
				l := startLoad(here.listener(ctx, lane), service, ns+"/"+service, lane)
				l.sent(ctx, 40)
				g.Expect(l.end()[lane].Lost).To(BeEmpty())
			}).WithContext(ctx).Should(Succeed(), lane)
		}
	}, NodeTimeout(patience))
})
