package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLife of nginx-ingress-controller runs the command against a real nginx.

const stored = `[{"name":"demo-web-80","port":80,"endpoints":[{"address":"10.0.0.1","port":"80"}]},{"name":"upstream-default-backend","port":0}]`

// status starts a server that answers like nginx's status server, and returns its port.
func status(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/configuration/backends":
			_, _ = w.Write([]byte(stored))
		case r.URL.Path == "/configuration/certs" && r.URL.Query().Get("hostname") == "web.example":
			_, _ = w.Write([]byte("PEM\n"))
		case r.URL.Path == "/configuration/certs" && r.URL.Query().Get("hostname") == "broken.example":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address.Port()
}

func TestCommands(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc/nginx"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "etc/nginx/nginx.conf"), []byte("events {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--status-port", status(t), "--nginx-root", root}
	for command, want := range map[string]string{
		"backends list":             "demo-web-80\nupstream-default-backend\n",
		"backends get demo-web-80":  "{\n  \"name\": \"demo-web-80\",\n  \"port\": 80,\n  \"endpoints\": [\n    {\n      \"address\": \"10.0.0.1\",\n      \"port\": \"80\"\n    }\n  ]\n}\n",
		"certs get web.example":     "PEM\n",
		"certs get unknown.example": "No cert found for host unknown.example\n",
		"certs get a&b=c":           "No cert found for host a&b=c\n",
		"conf":                      "events {}\n",
		"general":                   "{}\n",
	} {
		var stdout, stderr bytes.Buffer
		code := run(append(strings.Fields(command), flags...), &stdout, &stderr)
		if got := stdout.String(); got != want || code != 0 {
			t.Errorf("dbg %s: code %d, stdout %q, stderr %q, want %q", command, code, got, stderr.String(), want)
		}
	}
	var stdout, stderr bytes.Buffer
	if run(append([]string{"backends", "all"}, flags...), &stdout, &stderr); !strings.HasPrefix(stdout.String(), "[\n  {\n    \"name\": \"demo-web-80\"") {
		t.Errorf("dbg backends all: %q %q", stdout.String(), stderr.String())
	}
}

func TestErrors(t *testing.T) {
	port := status(t)
	for command, want := range map[string]string{
		"backends get nothing":     "dbg: nginx has no backend nothing\n",
		"backends":                 "dbg: backends: want one of all, list, get\n",
		"backends other":           "dbg: unknown command \"other\" for \"dbg backends\"\n",
		"certs get":                "dbg: accepts 1 arg(s), received 0\n",
		"certs get broken.example": "dbg: /configuration/certs?hostname=broken.example: 500 Internal Server Error: \n",
	} {
		var stdout, stderr bytes.Buffer
		code := run(append(strings.Fields(command), "--status-port", port), &stdout, &stderr)
		if code != 1 || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("dbg %s: code %d, stdout %q, stderr %q, want %q", command, code, stdout.String(), stderr.String(), want)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"backends", "all", "--status-port", "1"}, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "connection refused") {
		t.Errorf("without nginx: code %d, stderr %q", code, stderr.String())
	}
}
