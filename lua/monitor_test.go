package lua_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// record is the record of a request, from which the controller computes its metrics.
type record struct {
	Host, Namespace, Ingress, Service, Canary, Path, Method, Status string
	RequestLength, RequestTime, ResponseLength                      float64
	UpstreamLatency, UpstreamHeaderTime                             float64
	UpstreamResponseTime, UpstreamResponseLength                    float64
}

func TestMonitorSendsARecordOfEachRequest(t *testing.T) {
	path := nginxtest.Folder(t) + "/metrics.socket"
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.Chmod(path, 0o666); err != nil { // workers run as another user
		t.Fatal(err)
	}
	records := make(chan record, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(conn)
			conn.Close()
			var batch []record
			if err := json.Unmarshal(text, &batch); err != nil {
				t.Errorf("%v: %s", err, text)
			}
			for _, r := range batch {
				records <- r
			}
		}
	}()
	s := start(t, setup{Workers: 1, Config: map[string]any{"enable_metrics": true, "metrics_socket": "unix:" + path},
		Location: `set $namespace ns; set $ingress_name ing; set $service_name svc;`})
	w := s.serve(backend{Name: "shop", Endpoints: pods(t, 1)})[0]
	w.getPath("/a", "X-Upstream", "shop", "Host", "shop.example")
	w.getPath("/b", "X-Upstream", "none", "Host", "shop.example")
	var got []record
	for len(got) < 2 {
		if r := <-records; r.Host == "shop.example" {
			got = append(got, r)
		}
	}
	served, refused := got[0], got[1]
	if served.Namespace != "ns" || served.Ingress != "ing" || served.Service != "svc" || served.Path != "/" || served.Method != http.MethodGet ||
		served.Status != "200" || served.Canary != "" || served.RequestLength <= 0 || served.ResponseLength <= 0 ||
		served.UpstreamResponseTime < 0 || served.UpstreamResponseLength <= 0 {
		t.Errorf("the record of the served request is %+v", served)
	}
	if refused.Status != "503" || refused.UpstreamResponseTime != -1 || refused.UpstreamLatency != -1 {
		t.Errorf("the record of the refused request is %+v", refused)
	}
}
