package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// A real nginx accepts the configuration without each of the parts, and each part has a row.
func TestPage(t *testing.T) {
	nginxtest.Find(t, "http_lua")
	const hosts = 8
	var page bytes.Buffer
	if err := run(t.Context(), &page, hosts); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(page.String(), "| "+part.name+" |") {
			t.Errorf("%s: no row", part.name)
		}
	}
	if workers := strings.Count(page.String(), "| worker |"); workers != 2 {
		t.Errorf("%d workers, want 2:\n%s", workers, page.String())
	}
}

func TestPartsOfTheConfiguration(t *testing.T) {
	nginxtest.Find(t, "http_lua")
	const hosts = 8
	site, err := newSite(t.TempDir(), hosts)
	if err != nil {
		t.Fatal(err)
	}
	whole := site.conf
	if len(whole.hosts) != hosts+1 || whole.locations() < hosts || !strings.HasSuffix(whole.bottom, "}\n") {
		t.Fatalf("%d hosts, %d locations, the end is %q", len(whole.hosts), whole.locations(), whole.bottom)
	}
	left := whole
	for _, part := range parts {
		without := part.remove(left)
		if len(without.String()) >= len(left.String()) || without.hosts[0] == "" {
			t.Errorf("%s: nothing is removed", part.name)
		}
		left = without
	}
	if len(left.hosts) != 1 || !strings.Contains(left.hosts[0], "ssl_certificate ") {
		t.Errorf("left: %s", left.hosts)
	}

	repeated := whole.withHeadersEverywhere()
	if headers.MatchString(repeated.top) {
		t.Error("the http block still sets request headers")
	}
	own := regexp.MustCompile(`(?m)^\s*proxy_set_header Host \$best_http_host;$`)
	all := strings.Join(repeated.hosts, "")
	if n := len(own.FindAllString(all, -1)); n != strings.Count(all, "proxy_pass ") {
		t.Errorf("%d locations set the host, want all %d", n, strings.Count(all, "proxy_pass "))
	}
}
