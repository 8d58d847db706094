package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// A cluster takes half a minute. An image that the engine does not have is reported before.
func TestAMissingImageIsReportedBeforeTheCluster(t *testing.T) {
	folder := t.TempDir()
	docker := "#!/bin/sh\ncase \"$1 $2\" in\ninfo*) exit 0 ;;\n\"image inspect\") exit 1 ;;\nesac\necho \"$@\" >>" + folder + "/asked\nexit 1\n"
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(docker), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	t.Setenv("ENGINE", "docker")
	s := subject.Subject{Name: "fork", Controller: subject.ImagePrefix + "registry.example/fork:v1"}
	_, err := Driver{}.Prepare(t.Context(), s, driver.Options{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "has no image registry.example/fork:v1: pull it") {
		t.Errorf("the error is %v", err)
	}
	if asked, err := os.ReadFile(filepath.Join(folder, "asked")); err == nil {
		t.Errorf("the engine was asked to %s", asked)
	}
}
