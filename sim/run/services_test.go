package run_test

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/traffic"
)

// Without this error, a lane of TCP or UDP would have no target, and other lanes would ignore their service.
func TestServicesOfLanes(t *testing.T) {
	for name, c := range map[string]struct{ lane, want string }{
		"of the population":         {lane: "lane: tcp, service: svc-004"},
		"with its namespace":        {lane: "lane: udp, service: demo/svc-004"},
		"misspelt":                  {lane: "lane: tcp, service: svc-05", want: "asks.yaml:7: lane tcp: the population has no service svc-05 with a port for plain TCP and UDP; did you mean svc-000? (the services are svc-000, svc-001, svc-002 and 2 more)"},
		"of another namespace":      {lane: "lane: tcp, service: shop/svc-004", want: "the population has no service shop/svc-004 with a port for plain TCP and UDP"},
		"of its host":               {lane: "lane: http, host: svc-004.demo.example, service: svc-004"},
		"of another host":           {lane: "lane: http, host: svc-000.demo.example, service: svc-003", want: "asks.yaml:7: lane http: the host svc-000.demo.example of the population leads to demo/svc-000, not only to demo/svc-003; remove service:"},
		"of a host that no one has": {lane: "lane: http, host: nobody.invalid, service: svc-000"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: windtunnel.dev/v1\nkind: Scenario\nmetadata: {name: asks}\nspec:\n  population: {services: 5, streams: true}\n  traffic:\n  - {rate: 1/s, " + c.lane + "}\n"
			s, err := scenario.Parse("asks.yaml", []byte(text), scenario.Known{StreamLanes: traffic.StreamLanes()})
			if err != nil {
				t.Fatal(err)
			}
			switch err := run.Check(s, 1, nil); {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

// Only some services of a recording, or none, may have a port for plain TCP and UDP.
func TestStreamLanesOfRecordings(t *testing.T) {
	t.Chdir(t.TempDir())
	plain := corpus.Service{Namespace: "recorded", Name: "plain", Pods: []string{"plain-1"}}
	reached := corpus.Service{Namespace: "recorded", Name: "reached", Pods: []string{"reached-1"}, StreamPort: 8081}
	record := func(name string, services ...corpus.Service) {
		writeRecording(t, name, churn.Recording{Population: corpus.Population{Namespace: "recorded", Services: services}})
	}
	record("some.jsonl", plain, reached)
	record("none.jsonl", plain)
	for _, c := range []struct{ recording, lane, want string }{
		{"some.jsonl", "lane: tcp", ""},
		{"some.jsonl", "lane: udp, service: reached", ""},
		{"some.jsonl", "lane: udp, service: plain", "asks.yaml:7: lane udp: the population has no service plain with a port for plain TCP and UDP; the services are reached"},
		{"none.jsonl", "lane: tcp", "asks.yaml:7: lane tcp: the population has no service with a port for plain TCP and UDP; use another lane, or a generated population with streams: true"},
		{"none.jsonl", "lane: http", ""},
	} {
		text := "apiVersion: windtunnel.dev/v1\nkind: Scenario\nmetadata: {name: asks}\nspec:\n  population: {recording: " + c.recording + "}\n  traffic:\n  - {rate: 1/s, " + c.lane + "}\n"
		s, err := scenario.Parse("asks.yaml", []byte(text), scenario.Known{StreamLanes: traffic.StreamLanes()})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Check(s, 1, nil); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s, %s: the error is %v, want %q", c.recording, c.lane, err, c.want)
		}
	}
}
