package engine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/moby/moby/client"
)

// Errors about images say what to do.
func TestImagesThatCannotRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(r.URL.Path, "/fork/json"):
			fmt.Fprint(w, `{"Id":"x","Config":{"Cmd":["/controller"]}}`)
		case strings.Contains(r.URL.Path, "/empty/json"):
			fmt.Fprint(w, `{"Id":"x","Config":{}}`)
		case strings.Contains(r.URL.Path, "/broken/json"):
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"message":"no disk"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"no such image"}`)
		}
	}))
	t.Cleanup(server.Close)
	api, err := client.New(client.WithHost("tcp://"+strings.TrimPrefix(server.URL, "http://")), client.WithAPIVersion("1.44"))
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]string{
		"fork":   "",
		"empty":  "image empty: it has neither ENTRYPOINT nor CMD",
		"broken": "no disk",
		"none":   "has no image none: pull it (docker pull none)",
		Image:    "has no image " + Image + ": build it (make image)",
	} {
		if _, err := Has(t.Context(), api, image); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", image, err, want)
		}
	}
}
