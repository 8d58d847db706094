package driver_test

import (
	"testing"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/cluster"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/subject"
)

// Drivers say which program of this machine a subject runs, also in place of the bundled controller.
func TestProgramOf(t *testing.T) {
	bundled, other, image := subject.Subject{Controller: subject.Bundled}, subject.Subject{Controller: "/other"}, subject.Subject{Controller: subject.ImagePrefix + "other"}
	for _, test := range []struct {
		driver         driver.Driver
		bundled, other string
	}{
		{local.Driver{Bundled: "/ours"}, "", "/other"},
		{local.Driver{Bundled: "/fork", Replaced: true}, "/fork", "/other"},
		{container.Driver{}, "", ""},
	} {
		if got, named := driver.ProgramOf(test.driver, bundled), driver.ProgramOf(test.driver, other); got != test.bundled || named != test.other {
			t.Errorf("%+v: bundled runs %q and other %q, want %q and %q", test.driver, got, named, test.bundled, test.other)
		}
		if got := driver.ProgramOf(test.driver, image); got != "" {
			t.Errorf("%+v: an image is the program %q", test.driver, got)
		}
	}
}

// Drivers say which image a subject runs, also in place of the bundled controller.
func TestImageOf(t *testing.T) {
	bundled, other := subject.Subject{Controller: subject.Bundled}, subject.Subject{Controller: subject.ImagePrefix + "other"}
	for _, test := range []struct {
		driver      driver.Driver
		want, named string
	}{
		{local.Driver{}, "", "other"},
		{container.Driver{}, engine.Image, "other"},
		{container.Driver{Image: "fork"}, "fork", "other"},
		{kind.Driver{}, engine.Image, "other"},
		{kind.Driver{Controller: "fork"}, "fork", "other"},
		{&cluster.Driver{Options: cluster.Options{Image: "fork"}}, "fork", "other"},
	} {
		if got, named := driver.ImageOf(test.driver, bundled), driver.ImageOf(test.driver, other); got != test.want || named != test.named {
			t.Errorf("%s: bundled runs %q and other %q, want %q and %q", test.driver.Name(), got, named, test.want, test.named)
		}
	}
}
