package run

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"windtunnel.dev/sim/behave"
)

func TestFollower(t *testing.T) {
	f := &follower{path: filepath.Join(t.TempDir(), "access.log")}
	for _, step := range []struct {
		written string
		want    []string
	}{
		{"", nil}, // there is no file yet
		{"one\ntwo\nhal", []string{"one", "two"}},
		{"f\n", []string{"half"}},
		{"", nil},
		{"\nlast\n", []string{"", "last"}},
	} {
		if step.written != "" {
			file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteString(step.written); err != nil {
				t.Fatal(err)
			}
			file.Close()
		}
		got, err := f.lines()
		if err != nil || !slices.Equal(got, step.want) {
			t.Errorf("after %q: %q, %v; want %q", step.written, got, err, step.want)
		}
	}
}

func TestLogPath(t *testing.T) {
	for want, config := range map[string]map[string]string{
		"/root/var/log/nginx/access.log": nil,
		"/root/tmp/both.log":             {"access-log-path": "/tmp/both.log"},
		"/root/tmp/http.log":             {"access-log-path": "/tmp/both.log", "http-access-log-path": "/tmp/http.log"},
		"/root/tmp/ignored.log":          {behave.Ignored + "access-log-path": "/tmp/ignored.log"},
		"/logs/controller.log":           {"access-log-path": "/dev/stdout"},
	} {
		if got := accessLog.in("/root", "/logs/controller.log", config); got != want {
			t.Errorf("%v: %s, want %s", config, got, want)
		}
	}
}
