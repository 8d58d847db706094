package agent

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// An agent that does not know a request is of an older version. The API server answers in its own way if the
// pod is gone.
func TestOldAgents(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.Handler
		old    bool
	}{
		"old":  {http.NewServeMux(), true},
		"gone": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"kind":"Status"}`, http.StatusNotFound) }), false},
	} {
		server := httptest.NewServer(test.answer)
		t.Cleanup(server.Close)
		peer := NewPeer(At{Pod: "one", URL: server.URL, Client: server.Client(), Token: token}, newRunLog().Log)
		if _, err := peer.Entry(t.Context()); err == nil || errors.Is(err, ErrOldAgent) != test.old {
			t.Errorf("%s: %v", name, err)
		}
	}
}
