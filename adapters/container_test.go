package adapters_test

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/moby/moby/client"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/internal/forktest"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/subject"
)

// Images of other controllers run in containers, each through its adapter. The driver local unpacks the
// images of the engine.
func TestContainers(t *testing.T) {
	t.Run("fork", func(t *testing.T) {
		needEngine(t)
		load(t, forktest.File(t), forktest.Tag)
		for _, d := range []driver.Driver{container.Driver{}, local.Driver{}} {
			t.Run(d.Name(), func(t *testing.T) {
				s := rollingUpdateOn(t, d, subject.Subject{Name: "fork", Controller: subject.ImagePrefix + forktest.Tag})
				check(t, s)
				checkNginx(t, s)
			})
		}
	})
	t.Run("single process", func(t *testing.T) {
		needEngine(t)
		load(t, stubFile(t), stubTag)
		checkSingle(t, rollingUpdateOn(t, container.Driver{}, subject.Subject{
			Name: "stub", Adapter: testAdapter(t, "single"), Controller: subject.ImagePrefix + stubTag,
		}))
	})
}

func needEngine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a container engine; not run with -short")
	}
	provider, err := engine.Open(t.Context())
	if err != nil {
		t.Skip(err)
	}
	provider.Close()
}

// load loads an image into the engine until the test ends.
func load(t *testing.T, path, tag string) {
	t.Helper()
	provider, err := engine.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := provider.Client().ImageRemove(context.Background(), tag, client.ImageRemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
		provider.Close()
	})
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	loaded, err := provider.Client().ImageLoad(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if _, err := io.Copy(io.Discard, loaded); err != nil {
		t.Fatal(err)
	}
}
