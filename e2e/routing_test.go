package e2e_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/pki"
)

var _ = Describe("routing", Label("routing"), func() {
	It("follows host and path", func(ctx context.Context) {
		ns := namespace(ctx, "routing")
		backend(ctx, ns, "shop", 1)
		backend(ctx, ns, "cart", 1)
		here.put(ctx, route(ns, "shop", "routing.example", "/", "shop"), route(ns, "cart", "routing.example", "/cart", "cart"))
		awaitServed(ctx, "routing.example", "/", ns+"/shop")
		awaitServed(ctx, "routing.example", "/cart/1", ns+"/cart")
		Expect(ask(ctx, "nobody.example", "/")).To(Equal(answer{status: http.StatusNotFound}))
	}, NodeTimeout(patience))

	It("follows the scale of a Deployment", func(ctx context.Context) {
		ns := namespace(ctx, "scaling")
		backend(ctx, ns, "web", 1)
		here.put(ctx, route(ns, "web", "scaling.example", "/", "web"))
		awaitServed(ctx, "scaling.example", "/", ns+"/web")
		scale := func(replicas int32) {
			found, err := here.client.AppsV1().Deployments(ns).GetScale(ctx, "web", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			found.Spec.Replicas = replicas
			_, err = here.client.AppsV1().Deployments(ns).UpdateScale(ctx, "web", found, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		scale(0)
		Eventually(func() (answer, error) { return ask(ctx, "scaling.example", "/") }).WithContext(ctx).Should(Equal(answer{status: http.StatusServiceUnavailable}))
		scale(2)
		awaitServed(ctx, "scaling.example", "/", ns+"/web")
	}, NodeTimeout(patience))
})

var _ = Describe("TLS", Label("tls"), func() {
	It("is terminated with the certificate of the Secret, and HTTP is redirected to it", func(ctx context.Context) {
		ns := namespace(ctx, "tls")
		backend(ctx, ns, "web", 1)
		authority := pki.New("e2e")
		pair := authority.Issue("tls.example", []string{"tls.example"})
		here.put(ctx,
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cert"}, Type: corev1.SecretTypeTLS,
				Data: map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}},
			route(ns, "web", "tls.example", "/", "web", func(i *networkingv1.Ingress) {
				i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"tls.example"}, SecretName: "cert"}}
			}))
		roots := x509.NewCertPool()
		roots.AddCert(authority.Certificate)
		listener := here.listener(ctx, "https").String()
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, listener)
			},
		}}
		Eventually(func() (answer, error) { return askBy(ctx, client, "https://tls.example/", "tls.example") }).
			WithContext(ctx).Should(Equal(answer{http.StatusOK, ns + "/web"}))

		plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		Eventually(func() (answer, error) {
			return askBy(ctx, plain, "http://"+here.listener(ctx, "http").String()+"/", "tls.example")
		}).WithContext(ctx).Should(Equal(answer{status: http.StatusPermanentRedirect}))
	}, NodeTimeout(patience))
})

var _ = Describe("a canary", Label("canary"), func() {
	It("gets requests according to its header or weight", func(ctx context.Context) {
		ns := namespace(ctx, "canary")
		backend(ctx, ns, "web", 1)
		backend(ctx, ns, "next", 1)
		here.put(ctx, route(ns, "web", "canary.example", "/", "web"))
		awaitServed(ctx, "canary.example", "/", ns+"/web")
		here.put(ctx, route(ns, "next", "canary.example", "/", "next", annotated("canary", "true"), annotated("canary-by-header", "X-Next")))
		Eventually(func(g Gomega) {
			for range 10 {
				g.Expect(ask(ctx, "canary.example", "/", "X-Next", "always")).To(Equal(answer{http.StatusOK, ns + "/next"}))
				g.Expect(ask(ctx, "canary.example", "/")).To(Equal(answer{http.StatusOK, ns + "/web"}))
			}
		}).WithContext(ctx).Should(Succeed())
		here.put(ctx, route(ns, "next", "canary.example", "/", "next", annotated("canary", "true"), annotated("canary-weight", "100")))
		awaitServed(ctx, "canary.example", "/", ns+"/next")
	}, NodeTimeout(patience))
})
