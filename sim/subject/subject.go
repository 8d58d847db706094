// Package subject says what is under test. It stands between the scenario,
// which names subjects, and the drivers, which start them. Its one rule: a
// subject is a value; nothing here runs anything.
package subject

import (
	"maps"
	"slices"

	"windtunnel.dev/sim/scenario"
)

// Bundled is the Controller of a subject that is our own controller.
const Bundled = scenario.Bundled

// ImagePrefix is how the Controller of a subject begins that is an image.
const ImagePrefix = scenario.ImagePrefix

// Subject is one controller with its settings.
type Subject struct {
	Name string
	// Controller is Bundled, or an ingress controller that takes ingress-nginx's
	// flags: the path of a binary, or ImagePrefix and the name of an image.
	Controller string
	// Flags are given to the controller after the driver's own, so they win.
	// Names are without dashes.
	Flags map[string]string
	// Config is the data of the controller's ConfigMap.
	Config map[string]string
	// Resources are what it may use; zero: all there is.
	Resources scenario.Resources
}

// Of are the subjects of a scenario, in its order, with the ConfigMap keys that
// hold for all of them.
func Of(s *scenario.Scenario) []Subject {
	subjects := make([]Subject, 0, len(s.Subjects))
	for _, named := range s.Subjects {
		config := maps.Clone(s.Config)
		if config == nil {
			config = map[string]string{}
		}
		maps.Copy(config, named.Config)
		subjects = append(subjects, Subject{Name: named.Name, Controller: named.Controller, Flags: named.Flags, Config: config, Resources: named.Resources})
	}
	return subjects
}

// Args are the flags as a command line has them, by name.
func Args(flags map[string]string) []string {
	args := make([]string, 0, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		args = append(args, "--"+name+"="+flags[name])
	}
	return args
}
