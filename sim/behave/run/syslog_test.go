package run

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"windtunnel.dev/sim/behave"
)

func TestSyslogAddress(t *testing.T) {
	for _, c := range []struct {
		config map[string]string
		want   string // "" for none
	}{
		{map[string]string{"enable-syslog": "true", "syslog-host": "127.0.0.1", "syslog-port": "15140"}, "127.0.0.1:0"},
		{map[string]string{"enable-syslog": "1", "syslog-host": "::1"}, "[::1]:514"},
		{map[string]string{behave.Ignored + "enable-syslog": "true", "syslog-host": "127.0.0.1", behave.Ignored + "syslog-port": "15140"}, "127.0.0.1:0"},
		{map[string]string{"enable-syslog": "false", "syslog-host": "127.0.0.1"}, ""},
		{map[string]string{"enable-syslog": "true", "syslog-host": "203.0.113.7"}, ""},
		{map[string]string{"enable-syslog": "true", "syslog-host": "logs.example"}, ""},
		{nil, ""},
	} {
		got, ok := syslogAddress(c.config)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%v: %v, %t, want %q", c.config, got, ok, c.want)
		}
	}
}

// Two installations can run the same case: each gets its own port, and keeps it.
func TestSyslogPorts(t *testing.T) {
	ports := map[string]bool{}
	for range 2 {
		i := &installation{dir: t.TempDir()}
		for range 2 {
			config := map[string]string{"enable-syslog": "true", "syslog-host": "127.0.0.1", "syslog-port": "15140"}
			if err := i.listenToSyslog(config); err != nil {
				t.Fatal(err)
			}
			ports[config["syslog-port"]] = true
		}
		defer i.syslog.close()
	}
	if len(ports) != 2 {
		t.Errorf("ports %v, want two", ports)
	}
}

// Each line is written to the file of its log, without the prefix that syslog adds.
func TestSyslogServer(t *testing.T) {
	s, err := serveSyslog(netip.MustParseAddrPort("127.0.0.1:0"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("udp", s.address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, packet := range []string{
		`<190>Nov  3 00:01:02 node-1 nginx: 127.0.0.1 - - "GET / HTTP/1.1" 200`,
		"<187>Nov 23 00:01:02 node-1 nginx: 2026/11/23 00:01:02 [error] 7#7: *3 connect() failed\n",
	} {
		if _, err := client.Write([]byte(packet)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		s.access: `127.0.0.1 - - "GET / HTTP/1.1" 200` + "\n",
		s.errors: "2026/11/23 00:01:02 [error] 7#7: *3 connect() failed\n",
	} {
		got := ""
		for got == "" && t.Context().Err() == nil {
			text, _ := os.ReadFile(path)
			got = string(text)
		}
		if got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
