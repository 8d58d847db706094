package load

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Every PUT is a whole slice that differs from the one before, whatever the answer's length.
func TestPutter(t *testing.T) {
	for _, mediaType := range []string{JSON, Protobuf} {
		var got []*discoveryv1.EndpointSlice
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err != nil || req.Header.Get("Content-Type") != mediaType || req.Header.Get("Authorization") != "Bearer secret" ||
				req.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/web" {
				t.Errorf("%s %v, %v", req.URL, req.Header, err)
			}
			obj, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), body)
			if err != nil {
				t.Error(err)
				return
			}
			if got = append(got, obj.(*discoveryv1.EndpointSlice)); len(got) == 3 {
				w.WriteHeader(http.StatusConflict)
			}
			if len(got) == 2 {
				http.NewResponseController(w).Flush() // of a length that is not told
			}
			w.Write([]byte(strings.Repeat("x", len(got))))
		}))
		t.Cleanup(server.Close)
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p, err := NewPutter(conn, Slice("default", "web", 2), mediaType, "secret")
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(2) {
			if err := p.Put(n); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := *got[0].Endpoints[0].NodeName, *got[1].Endpoints[0].NodeName; a != "node-0000000000" || b != "node-0000000001" {
			t.Errorf("%s: nodes %s, %s", mediaType, a, b)
		}
		if err := p.Put(2); err == nil || !strings.Contains(err.Error(), "409") {
			t.Errorf("%s: a conflict is %v", mediaType, err)
		}
	}
}
