package controller_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/internal/port"
)

// tlsPod starts a pod that speaks TLS itself. Its address is also that of a service.
func tlsPod(t *testing.T, address, name string) *net.TCPAddr {
	certificate := showing(pki.New("pods").Issue(name, []string{"raw.example"}))
	return podThat(t, address, &tls.Config{Certificates: []tls.Certificate{certificate}}, func(w http.ResponseWriter, request *http.Request) {
		fmt.Fprintf(w, "%s heard %s", name, request.Host)
	})
}

func passing(address string, number int) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "raw"}, Spec: corev1.ServiceSpec{
		ClusterIP: address, Ports: []corev1.ServicePort{{Name: "tls", Port: int32(number)}},
	}}
}

func TestPassthrough(t *testing.T) {
	t.Parallel()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	r := launchAs(t, true, func(config *controller.Config) {
		config.Options.EnableSSLPassthrough = true
		config.Options.Ports.SSLProxy = free
	})
	r.service(podThat(t, "127.88.0.1", nil, func(w http.ResponseWriter, request *http.Request) {
		fmt.Fprintf(w, "%s over %s", request.Header.Get("X-Forwarded-For"), request.Header.Get("X-Forwarded-Proto"))
	}))
	one, two := tlsPod(t, "127.88.0.2", "one"), tlsPod(t, "127.88.0.2", "two")
	services := r.client.CoreV1().Services("default")
	_, err = services.Create(t.Context(), passing("127.88.0.2", one.Port), metav1.CreateOptions{})
	r.must(err)
	r.pass("raw.example")

	client := r.tlsClient(anyone())
	r.awaitTLS(client, "https://raw.example/", "200 one heard raw.example", "one")
	// All other connections go to nginx, which learns the client's address.
	from := r.tlsClient(anyone())
	from.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 77)}}
		return dialer.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", r.ports.HTTPS))
	}
	r.awaitTLS(from, "https://web.example/", "200 127.0.0.77 over https", fakeName)
	if got := r.get(r.ports.HTTP, "web.example", "/"); got != "127.0.0.1 over http" {
		t.Errorf("over HTTP: %q", got)
	}

	// The service gets another port. No reload is needed.
	workers := r.workers()
	object, err := services.Get(t.Context(), "raw", metav1.GetOptions{})
	r.must(err)
	object.Spec.Ports[0].Port = int32(two.Port)
	_, err = services.Update(t.Context(), object, metav1.UpdateOptions{})
	r.must(err)
	r.awaitTLS(client, "https://raw.example/", "200 two heard raw.example", "two")
	if after := r.workers(); !slices.Equal(workers, after) {
		t.Errorf("workers %v became %v", workers, after)
	}

	// A connection that is open when the controller shuts down stays open.
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.ports.HTTPS), &tls.Config{ServerName: "raw.example", InsecureSkipVerify: true})
	r.must(err)
	defer conn.Close()
	ended := make(chan error, 1)
	go func() { ended <- r.stop() }()
	for r.get(r.ports.HTTP, "web.example", "/") == "127.0.0.1 over http" {
		if t.Context().Err() != nil {
			t.Fatal("nginx still accepts connections")
		}
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: last.example\r\nConnection: close\r\n\r\n")
	answer := make([]byte, 4096)
	n, err := conn.Read(answer)
	if err != nil || !strings.Contains(string(answer[:n]), "200 OK") {
		t.Errorf("the open connection: %q, %v", answer[:n], err)
	}
	conn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// pass creates an ingress with TLS passthrough of a host to the service raw.
func (r *running) pass(host string) {
	r.Helper()
	class, prefix := "nginx", networkingv1.PathTypePrefix
	_, err := r.client.NetworkingV1().Ingresses("default").Create(r.Context(), &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "raw", Annotations: map[string]string{"nginx.ingress.kubernetes.io/ssl-passthrough": "true"}},
		Spec: networkingv1.IngressSpec{IngressClassName: &class, Rules: []networkingv1.IngressRule{{
			Host: host,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: "/", PathType: &prefix,
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "raw", Port: networkingv1.ServiceBackendPort{Name: "tls"}}},
			}}}},
		}}},
	}, metav1.CreateOptions{})
	r.must(err)
}
