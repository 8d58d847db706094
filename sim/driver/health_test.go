package driver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A failed check says what the controller answers.
func TestCheckHealth(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			http.Error(w, "nginx does\nnot run"+strings.Repeat(".", 1000), http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	if err := CheckHealth(t.Context(), server.URL+"/readyz", http.StatusOK); err != nil {
		t.Error(err)
	}
	err := CheckHealth(t.Context(), server.URL+"/healthz", http.StatusOK)
	if err == nil || !strings.Contains(err.Error(), "/healthz: 500 Internal Server Error: nginx does not run...") || len(err.Error()) > 500 {
		t.Errorf("got %v", err)
	}
	if err := CheckHealth(t.Context(), server.URL+"/healthz", http.StatusInternalServerError); err != nil {
		t.Errorf("the status that the adapter expects: %v", err)
	}
}
