package apply

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestSweepRemovesOldLeftoversOnly(t *testing.T) {
	layout := Layout{Root: t.TempDir()}
	if err := layout.Make(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	written := map[string]time.Time{
		"tmp/nginx/nginx-cfg123":              now.Add(-6 * time.Minute),
		"tmp/nginx/nginx-cfg124":              now.Add(-4 * time.Minute), // may be in use
		"tmp/nginx/nginx.pid":                 now.Add(-time.Hour),
		"etc/nginx/.nginx.conf.next-1":        now.Add(-time.Hour),
		"etc/nginx/nginx.conf.try":            now.Add(-time.Hour),
		"etc/nginx/nginx.conf.next":           now.Add(-time.Hour), // an error message refers to it
		"etc/nginx/nginx.conf":                now.Add(-time.Hour),
		"etc/nginx/lua/.cfg.json-77":          now.Add(-time.Hour),
		"etc/ingress-controller/ssl/.a.pem-7": now.Add(-time.Hour),
		"etc/ingress-controller/ssl/a.pem":    now.Add(-time.Hour),
		"etc/nginx/lua/cfg.json":              now.Add(-time.Hour),
		"tmp/nginx/nginx-cfg-dir/some.conf":   now.Add(-time.Hour), // not recursive
	}
	for name, at := range written {
		path := filepath.Join(layout.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := layout.Sweep(now.Add(-SweepEvery)); err != nil {
		t.Fatal(err)
	}
	var gone []string
	for name := range written {
		if _, err := os.Stat(filepath.Join(layout.Root, name)); err != nil {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	want := []string{"etc/ingress-controller/ssl/.a.pem-7", "etc/nginx/.nginx.conf.next-1", "etc/nginx/lua/.cfg.json-77", "etc/nginx/nginx.conf.try", "tmp/nginx/nginx-cfg123"}
	if !slices.Equal(gone, want) {
		t.Errorf("removed %q, want %q", gone, want)
	}
}
