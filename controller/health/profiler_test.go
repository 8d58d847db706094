package health

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestProfiler(t *testing.T) {
	for path, want := range map[string]string{"/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile", "/debug/pprof/cmdline": "test"} {
		w := httptest.NewRecorder()
		Profiler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}
