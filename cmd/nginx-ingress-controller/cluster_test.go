package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Audit logs and flow schemas identify the controller by its user agent.
func TestRequestsToTheAPIServer(t *testing.T) {
	requests := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	f, err := parseFlags([]string{"--apiserver-host=" + server.URL})
	if err != nil {
		t.Fatal(err)
	}
	client, err := f.client()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods("demo").Create(t.Context(), new(corev1.Pod), metav1.CreateOptions{}); err == nil {
		t.Error("no error from a server that refuses")
	}
	sent := (<-requests).Header
	for header, want := range map[string]string{
		"User-Agent":   `^nginx-ingress-controller/\S+ \(linux/\w+\) windtunnel/\S+$`,
		"Content-Type": `^application/vnd\.kubernetes\.protobuf$`,
		"Accept":       `^application/vnd\.kubernetes\.protobuf,application/json$`,
	} {
		if got := sent.Get(header); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %q, want %s", header, got, want)
		}
	}
}
