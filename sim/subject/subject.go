// Package subject describes the controllers under test. The scenario names subjects; the drivers
// start them. Its one rule: a subject is a value; this package runs nothing.
package subject

import (
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/sim/scenario"
)

// Bundled is the Controller of a subject that runs our own controller.
const Bundled = scenario.Bundled

// ImagePrefix is the prefix of a Controller that is a container image.
const ImagePrefix = scenario.ImagePrefix

// Subject is one controller with its settings.
type Subject struct {
	Name string
	// Adapter says how the controller is started and observed: the name of an adapter or the path of its
	// file. "" means the default adapter.
	Adapter string
	// Controller is Bundled, the path of a binary, ImagePrefix and the name or file of an image, or empty:
	// the program of the adapter.
	Controller string
	// Nginx, Lua and Template replace parts of what the controller runs: the path of a binary of nginx,
	// or of whichever proxy it starts; a folder with Lua code; a template of the proxy's configuration.
	// Empty: its own.
	Nginx, Lua, Template string
	// Flags come after those of the adapter, so they take precedence. Names are without dashes.
	Flags map[string]string
	// Config is the data of the controller's ConfigMap.
	Config map[string]string
	// Webhook says that the API server asks the controller's validating webhook about ingresses.
	Webhook bool
	// Resources are the limits of the subject; zero means none.
	Resources scenario.Resources
}

// Of returns the subjects of a scenario, in its order. Their Config includes the scenario's
// ConfigMap keys.
func Of(s *scenario.Scenario) []Subject {
	subjects := make([]Subject, 0, len(s.Subjects))
	for _, named := range s.Subjects {
		config := maps.Clone(s.Config)
		if config == nil {
			config = map[string]string{}
		}
		maps.Copy(config, named.Config)
		subjects = append(subjects, Subject{
			Name: named.Name, Adapter: named.Adapter, Controller: named.Controller,
			Nginx: named.Nginx, Lua: named.Lua, Template: named.Template,
			Flags: named.Flags, Config: config, Webhook: named.Webhook, Resources: named.Resources,
		})
	}
	return subjects
}

// IsImage reports whether the controller is a container image.
func (s Subject) IsImage() bool { return strings.HasPrefix(s.Controller, ImagePrefix) }

// Image returns the name of the container image, or the path of its file; empty if the controller is not
// an image.
func (s Subject) Image() string {
	if !s.IsImage() {
		return ""
	}
	return strings.TrimPrefix(s.Controller, ImagePrefix)
}

// ImageFile returns the path of the image's file; empty if there is none.
func (s Subject) ImageFile() string {
	if image := s.Image(); scenario.IsImageFile(image) {
		return image
	}
	return ""
}

// Args returns the flags as command-line arguments, sorted by name.
func Args(flags map[string]string) []string {
	args := make([]string, 0, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		args = append(args, "--"+name+"="+flags[name])
	}
	return args
}
