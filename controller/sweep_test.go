package controller

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/options"
)

// Leftovers of interrupted tests are removed after five to ten minutes, repeatedly.
func TestSweepIsRepeated(t *testing.T) {
	root := t.TempDir()
	leftover := filepath.Join(root, "tmp/nginx/nginx-cfg123")
	if err := os.MkdirAll(filepath.Dir(leftover), 0o755); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go (&controller{Config: Config{Options: options.Options{Root: root}}}).sweep(ctx)
		for round := range 2 {
			if err := os.WriteFile(leftover, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			now := time.Now().Add(time.Second) // later than the last round
			if err := os.Chtimes(leftover, now, now); err != nil {
				t.Fatal(err)
			}
			for _, there := range []bool{true, false} {
				time.Sleep(apply.SweepEvery)
				synctest.Wait()
				if _, err := os.Stat(leftover); (err == nil) != there {
					t.Errorf("round %d: after %v the leftover exists: %v, want %v", round, time.Since(now), err == nil, there)
				}
			}
		}
	})
}
