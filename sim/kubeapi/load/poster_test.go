package load

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Each Post creates a Service, and a slice and an Ingress that refer to it.
func TestPoster(t *testing.T) {
	for _, mediaType := range []string{JSON, Protobuf} {
		var paths, names []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != mediaType {
				t.Errorf("got %s %s %v, %v", req.Method, req.URL, req.Header, err)
			}
			obj, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), body)
			if err != nil {
				t.Error(err)
				return
			}
			paths = append(paths, req.URL.Path)
			switch obj := obj.(type) {
			case *corev1.Service:
				names = append(names, obj.Name, obj.Spec.Selector["app"])
			case *discoveryv1.EndpointSlice:
				names = append(names, obj.Name, obj.Labels[discoveryv1.LabelServiceName])
			case *networkingv1.Ingress:
				names = append(names, obj.Name, obj.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name)
			}
			w.WriteHeader(http.StatusCreated)
		}))
		t.Cleanup(server.Close)
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p, err := NewPoster(conn, "shop", "app-3", mediaType, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{7, 12} {
			if err := p.Post(n); err != nil {
				t.Fatal(err)
			}
		}
		seven, twelve := "app-3-0000000007", "app-3-0000000012"
		if want := []string{seven, seven, seven, seven, seven, seven, twelve, twelve, twelve, twelve, twelve, twelve}; !slices.Equal(names, want) {
			t.Errorf("%s: names %v", mediaType, names)
		}
		if want := []string{"/api/v1/namespaces/shop/services", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices", "/apis/networking.k8s.io/v1/namespaces/shop/ingresses"}; !slices.Equal(paths[:PostObjects], want) {
			t.Errorf("%s: paths %v", mediaType, paths)
		}
	}
}
