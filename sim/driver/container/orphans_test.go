package container

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/moby/moby/client"
)

// engineThat returns a client of an engine that answers in this way.
func engineThat(t *testing.T, answers http.HandlerFunc) client.APIClient {
	t.Helper()
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	api, err := client.New(client.WithHost("tcp://"+strings.TrimPrefix(server.URL, "http://")), client.WithAPIVersion("1.44"))
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// Of several harnesses that find the same container, one removes it, and the others go on.
func TestSeveralHarnessesRemoveAContainer(t *testing.T) {
	for status, fails := range map[int]bool{
		http.StatusNoContent:           false,
		http.StatusNotFound:            false,
		http.StatusConflict:            false, // removal of container x is already in progress
		http.StatusInternalServerError: true,
	} {
		api := engineThat(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				w.Write([]byte(`{"message":"the reason"}`))
			}
		})
		if err := remove(t.Context(), api, "x"); (err != nil) != fails {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
