package metrics

import (
	"encoding/json"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/socket"
)

func record() Record {
	return Record{Host: "web.example", Namespace: "shop", Ingress: "web", Service: "api", Path: "/", Method: "GET", Status: "404",
		RequestLength: 20, RequestTime: 0.25, ResponseLength: 300, ConnectTime: -1, HeaderTime: 0.125, ResponseTime: 0.5}
}

func serving(host string) Served {
	return Served{Hosts: map[string]bool{host: true}, Ingresses: map[types.NamespacedName]bool{{Namespace: "shop", Name: "web"}: true}}
}

// labels are the labels of record. They come after the common ones.
const (
	labels     = common + `,host="web.example",ingress="web",method="GET",namespace="shop",path="/",service="api",status="404"`
	withCanary = `{canary="",` + labels + `}`
)

func TestRequests(t *testing.T) {
	m := New(options)
	m.WillServe(serving("web.example"))
	m.Requests([]Record{record(), record()})
	want(t, m, "requests"+withCanary+" 2",
		"request_duration_seconds_sum"+withCanary+" 0.5", "request_duration_seconds_bucket{canary=\"\","+labels+`,le="0.25"} 2`,
		"header_duration_seconds_sum"+withCanary+" 0.25", "response_duration_seconds_sum"+withCanary+" 1",
		"request_size_sum"+withCanary+" 40", "request_size_bucket{canary=\"\","+labels+`,le="20"} 2`,
		"response_size_sum"+withCanary+" 600", "bytes_sent_bucket{canary=\"\","+labels+`,le="1000"} 2`)
	if strings.Contains(scrape(m), "connect_duration_seconds") {
		t.Error("the value -1 was observed")
	}
}

func TestRequestOptions(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Requests)
		host   string
		want   string
		absent string
	}{
		"unknown host":                  {host: "other.example", absent: "requests{"},
		"unknown host, enabled":         {host: "other.example", change: func(r *Requests) { r.PerUndefinedHost = true }, want: `host="other.example"`},
		"without a label for hosts":     {host: "other.example", change: func(r *Requests) { r.PerHost = false }, want: "requests{", absent: `host="`},
		"classes":                       {change: func(r *Requests) { r.StatusClasses = true }, want: `status="4xx"`, absent: `"404"`},
		"excluded":                      {change: func(r *Requests) { r.Exclude = []string{"bytes_sent", "nginx_ingress_controller_response_size"} }, want: "request_size", absent: "bytes_sent"},
		"excluded with the prefix":      {change: func(r *Requests) { r.Exclude = []string{"nginx_ingress_controller_requests"} }, want: "request_size", absent: "controller_requests"},
		"other buckets":                 {change: func(r *Requests) { r.TimeBuckets = []float64{7} }, want: `le="7"`, absent: `le="0.25"`},
		"native and classic histograms": {change: func(r *Requests) { r.BucketFactor = 1.1 }, want: `le="0.25"`},
	} {
		t.Run(name, func(t *testing.T) {
			o := options
			if test.change != nil {
				test.change(&o.Requests)
			}
			m := New(o)
			m.WillServe(serving("web.example"))
			one := record()
			if test.host != "" {
				one.Host = test.host
			}
			m.Requests([]Record{one})
			text := ours(scrape(m))
			if !strings.Contains(text, test.want) {
				t.Errorf("no %s in\n%s", test.want, text)
			}
			if test.absent != "" && strings.Contains(text, test.absent) {
				t.Errorf("%s in\n%s", test.absent, text)
			}
		})
	}
}

// The series of an ingress are removed with it, and late records do not bring them back.
func TestSeriesOfARemovedIngressAreRemoved(t *testing.T) {
	m := New(options)
	m.WillServe(serving("web.example"))
	m.Serves(serving("web.example"))
	m.Requests([]Record{record()})
	m.Admitted(Admission{Namespace: "shop", Ingress: "web"})
	next := Served{Hosts: map[string]bool{"web.example": true}, Ingresses: map[types.NamespacedName]bool{{Namespace: "shop", Name: "new"}: true}}
	m.WillServe(next)
	want(t, m, "requests"+withCanary+" 1") // until nginx has the new configuration
	m.Serves(next)
	m.Requests([]Record{record()})
	if text := scrape(m); strings.Contains(text, `ingress="web"`) {
		t.Errorf("series remain:\n%s", ours(text))
	}
	one := record()
	one.Ingress = "new"
	m.Requests([]Record{one})
	want(t, m, "requests"+strings.Replace(withCanary, `ingress="web"`, `ingress="new"`, 1)+" 1")
}

func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	for range 2 {
		m := New(options)
		m.WillServe(serving("web.example"))
		listener, err := socket.Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			m.Receive(listener, slog.New(slog.DiscardHandler))
			close(ended)
		}()
		send := func(text string) {
			connection, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			if _, err := connection.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		batch, err := json.Marshal([]Record{record()})
		if err != nil {
			t.Fatal(err)
		}
		send("no JSON")
		send("")
		send(string(batch))
		for end := time.Now().Add(30 * time.Second); !strings.Contains(scrape(m), "requests"+withCanary+" 1"); {
			if time.Now().After(end) {
				t.Fatal("the record did not arrive")
			}
		}
		listener.(*net.UnixListener).SetUnlinkOnClose(false)
		listener.Close()
		<-ended
	}
}

// No input through the socket breaks the receiver.
func FuzzRecords(f *testing.F) {
	text, err := json.Marshal([]Record{record()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`[{"status":"","ingress":"web","namespace":"shop","host":"web.example","path":"\xff"}]`)
	f.Fuzz(func(_ *testing.T, text string) {
		m := New(options)
		m.WillServe(serving("web.example"))
		var records []Record
		if json.Unmarshal([]byte(text), &records) == nil {
			m.Requests(records)
			scrape(m)
		}
	})
}

func TestStubStatus(t *testing.T) {
	got, err := parseStubStatus("Active connections: 3 \nserver accepts handled requests\n 10 9 27 \nReading: 0 Writing: 1 Waiting: 2 \n")
	if err != nil || got != (stubNumbers{active: 3, accepted: 10, handled: 9, requests: 27, reading: 0, writing: 1, waiting: 2}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseStubStatus("<html>"); err == nil {
		t.Error("no error")
	}
}
