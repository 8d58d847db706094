package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The metrics of dictionaries are served even if most others are not.
func TestDictionaries(t *testing.T) {
	options := options
	options.Full = false
	answer := func(status int, text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, text)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	const sizes = `{"configuration_data":{"capacity":20971520,"free":20447232},"balancer_ewma":{"capacity":4096,"free":0}}`
	m := New(options)
	m.Nginx("http://127.0.0.1:1", answer(http.StatusOK, sizes), func() []int { return nil })
	want(t, m, "lua_dictionary_capacity_bytes{"+common+`,dictionary="configuration_data"} 2.097152e+07`,
		"lua_dictionary_free_bytes{"+common+`,dictionary="configuration_data"} 2.0447232e+07`,
		"lua_dictionary_free_bytes{"+common+`,dictionary="balancer_ewma"} 0`)

	for name, url := range map[string]string{
		"another Lua": answer(http.StatusNotFound, "Not found!"), "no JSON": answer(http.StatusOK, "<html>"), "no nginx": "http://127.0.0.1:1",
	} {
		m := New(options)
		m.Nginx("http://127.0.0.1:1", url, func() []int { return nil })
		if text := scrape(m); strings.Contains(text, "lua_dictionary") || !strings.Contains(text, "go_goroutines") {
			t.Errorf("%s:\n%s", name, ours(text))
		}
	}
}
