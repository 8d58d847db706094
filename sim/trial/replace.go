package trial

import (
	"cmp"
	"fmt"
	"slices"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/scenario"
)

// Replace returns the scenario with other subjects in place of those that run the bundled
// controller. A single subject replaces each of them, and keeps their flags and expectations.
// Several subjects also keep the flags and expectations if they replace a single subject; they keep
// their own names. Several subjects that replace several ones replace all of them, without their
// flags and expectations: see Together.
func Replace(s *scenario.Scenario, with []scenario.Subject) (*scenario.Scenario, error) {
	if len(with) == 0 {
		return s, nil
	}
	ours := bundled(s)
	if len(ours) == 0 {
		return nil, fmt.Errorf("no subject of %s uses the bundled controller, so there is none to replace", s.Name)
	}
	replaced := *s
	replaced.Subjects = nil
	for _, subject := range s.Subjects {
		if subject.Controller != scenario.Bundled {
			replaced.Subjects = append(replaced.Subjects, subject)
			continue
		}
		if Together(s, with) {
			continue
		}
		for _, one := range with {
			made := inPlaceOf(subject, one)
			if len(ours) == 1 {
				made.Name = one.Name
			}
			replaced.Subjects = append(replaced.Subjects, made)
		}
	}
	if Together(s, with) {
		replaced.Subjects = append(slices.Clone(with), replaced.Subjects...)
		replaced.Control = nil // it names expectations that may be gone
	}
	replaced.Control = controlFor(replaced.Control, with)
	seen := map[string]bool{}
	for _, subject := range replaced.Subjects {
		if seen[subject.Name] {
			return nil, fmt.Errorf("two subjects are named %s: give one of them another name, as in --subject …,name=NAME", subject.Name)
		}
		seen[subject.Name] = true
	}
	return &replaced, nil
}

// controlFor returns the control of a scenario for other subjects. If it sets flags or keys, which
// are those of ingress-nginx, it does not apply to controllers with other adapters.
func controlFor(control *scenario.Control, with []scenario.Subject) *scenario.Control {
	if control == nil || len(control.Flags)+len(control.Config) == 0 {
		return control
	}
	for _, one := range with {
		if DropsFlags(scenario.Subject{}, one) {
			made := *control
			made.NotApplicable = fmt.Sprintf("it sets flags or ConfigMap keys of ingress-nginx, which the adapter of %s does not have", one.Name)
			return &made
		}
	}
	return control
}

// Together reports whether several subjects replace several subjects of a scenario as a whole, so
// that none has a counterpart.
func Together(s *scenario.Scenario, with []scenario.Subject) bool {
	return len(with) > 1 && len(bundled(s)) > 1
}

// inPlaceOf returns a subject of a scenario that runs another controller. It keeps the flags of the
// original only if both have the same adapter, because flags are a controller's own.
func inPlaceOf(original, with scenario.Subject) scenario.Subject {
	made, with := original, completed(original, with)
	made.Adapter, made.Controller = with.Adapter, with.Controller
	made.Nginx, made.Lua, made.Template = with.Nginx, with.Lua, with.Template
	if DropsFlags(original, with) {
		made.Flags = nil
	}
	made.Flags, made.Config = scenario.Over(made.Flags, with.Flags), scenario.Over(made.Config, with.Config)
	return made
}

// completed returns a subject that takes the place of another one. If both run the bundled controller, it
// has all of the other one that it does not replace.
func completed(original, with scenario.Subject) scenario.Subject {
	if with.Controller == scenario.Bundled && original.Controller == scenario.Bundled {
		with.Adapter, with.Nginx = cmp.Or(with.Adapter, original.Adapter), cmp.Or(with.Nginx, original.Nginx)
		with.Lua, with.Template = cmp.Or(with.Lua, original.Lua), cmp.Or(with.Template, original.Template)
	}
	return with
}

// DropsFlags reports whether a subject that takes the place of another one has none of its flags.
func DropsFlags(original, with scenario.Subject) bool {
	return cmp.Or(original.Adapter, adapters.Default) != cmp.Or(completed(original, with).Adapter, adapters.Default)
}

// UsesBundled reports whether a subject of the scenario runs the bundled controller.
func UsesBundled(s *scenario.Scenario) bool { return len(bundled(s)) > 0 }

// bundled returns the subjects that others can replace.
func bundled(s *scenario.Scenario) []scenario.Subject {
	return slices.DeleteFunc(slices.Clone(s.Subjects), func(one scenario.Subject) bool { return one.Controller != scenario.Bundled })
}
