package agent

import (
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// An agent reports the first process of the container that it observes, and whether it sees its open files.
func TestEntry(t *testing.T) {
	for _, hidden := range []string{"", "permission denied"} {
		s, err := NewServer(token, Observed{Entry: func() (Entry, error) {
			e, err := entryOf(os.Getpid())
			e.Hidden += hidden
			return e, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(s.Handler())
		t.Cleanup(server.Close)
		peer := NewPeer(At{Pod: "one", URL: server.URL, Client: server.Client(), Token: token}, newRunLog().Log)
		e, err := peer.Entry(t.Context())
		if err != nil || !slices.Equal(e.Command, os.Args) || e.Hidden != hidden {
			t.Errorf("got %+v, %v; want the command line %q, hidden %q", e, err, os.Args, hidden)
		}
	}
	if _, err := entryOf(1 << 30); err == nil || !strings.Contains(err.Error(), "1073741824") {
		t.Errorf("of a process that does not exist: %v, want an error with its PID", err)
	}
}
