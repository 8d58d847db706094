package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// A cluster takes half a minute. An image that cannot run is reported before.
func TestImagesAreCheckedBeforeTheCluster(t *testing.T) {
	t.Run("missing", func(t *testing.T) { checkImage(t, "exit 1", "has no image registry.example/fork:v1: pull it") })
	t.Run("empty", func(t *testing.T) { checkImage(t, `echo "[{\"Config\": {}}]"`, "neither ENTRYPOINT nor CMD") })
}

// checkImage prepares a subject with an engine that answers questions about images, and nothing else.
func checkImage(t *testing.T, inspect, want string) {
	t.Helper()
	folder := t.TempDir()
	docker := "#!/bin/sh\ncase \"$1 $2\" in\ninfo*) exit ;;\n\"image inspect\") " + inspect + "; exit ;;\nesac\necho \"$@\" >>" + folder + "/asked\nexit 1\n"
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(docker), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	t.Setenv("ENGINE", "docker")
	s := subject.Subject{Name: "fork", Controller: subject.ImagePrefix + "registry.example/fork:v1"}
	_, err := Driver{}.Prepare(t.Context(), s, driver.Options{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v", err)
	}
	if asked, err := os.ReadFile(filepath.Join(folder, "asked")); err == nil {
		t.Errorf("the engine was asked to %s", asked)
	}
}
