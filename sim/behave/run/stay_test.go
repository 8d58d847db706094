package run

import (
	"testing"

	"windtunnel.dev/sim/behave"
)

// The ports that requests name are replaced in addresses of nginx, and only there.
func TestPortsAreReplaced(t *testing.T) {
	c := &behave.Case{Spec: behave.Spec{Steps: []behave.Step{
		{Request: behave.Request{Request: "GET http://a.example/", Port: 9001}},
		{Request: behave.Request{Request: "GET http://a.example/", Port: 9001}},
		{Request: behave.Request{Request: "GET http://a.example/"}},
	}}}
	s := &stay{Case: c, ports: map[string]string{}}
	if err := s.choosePorts(); err != nil {
		t.Fatal(err)
	}
	chosen := s.ports["9001"]
	if len(s.ports) != 1 || chosen == "" || chosen == "9001" {
		t.Fatalf("ports %v, want another one for 9001", s.ports)
	}
	got := s.addresses("listen 127.0.0.1:9001; listen 127.0.0.1:90011; listen 127.0.0.1:9002; proxy_pass 10.0.0.1:9001;")
	if want := "listen 127.0.0.1:" + chosen + "; listen 127.0.0.1:90011; listen 127.0.0.1:9002; proxy_pass 10.0.0.1:9001;"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
