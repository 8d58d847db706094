package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/specfile"
	"windtunnel.dev/sim/trial"
)

// subjectUsage describes the value of flags that name a subject.
const subjectUsage = "bundled, the path of a controller that takes ingress-nginx's flags, image:NAME, image:FILE.tar, or ADAPTER[=PATH]; with settings: ,lua=DIR,template=FILE,nginx=PATH,flag.NAME=VALUE,config.KEY=VALUE,name=NAME"

// addSubjects adds the flag for subjects that replace those of a scenario.
func addSubjects(flags *pflag.FlagSet, all *[]string) {
	flags.StringArrayVar(all, "subject", nil, "what runs instead of the bundled controller: "+subjectUsage+". Several controllers become one subject each")
}

// parseSubjects parses the values of --subject. If images is true, a controller without an adapter
// is the name of an image.
func parseSubjects(texts []string, images bool) ([]scenario.Subject, error) {
	var all []scenario.Subject
	for _, text := range texts {
		s, err := parseSubject(text, images)
		if err != nil {
			return nil, fmt.Errorf("--subject=%s: %w", text, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// parseSubject parses WHAT[,KEY=VALUE…]. Paths become absolute.
func parseSubject(text string, images bool) (scenario.Subject, error) {
	parts := strings.Split(text, ",")
	s, err := parseController(parts[0], images)
	if err != nil {
		return s, err
	}
	for _, part := range parts[1:] {
		key, value, found := strings.Cut(part, "=")
		if !found {
			return s, fmt.Errorf("%q is not KEY=VALUE", part)
		}
		if err := set(&s, key, value); err != nil {
			return s, err
		}
	}
	return s, nil
}

// parseController parses the part before the settings.
func parseController(text string, images bool) (s scenario.Subject, err error) {
	name, controller, assigned := strings.Cut(text, "=")
	isAdapter := slices.Contains(adapters.Names(), name) || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
	switch {
	case text == "":
		return s, fmt.Errorf("it is empty; write %s", subjectUsage)
	case isAdapter:
		if s.Adapter, err = absolute(name, adapters.IsPath(name)); err != nil {
			return s, err
		}
		s.Name = nameFrom(name)
		if name == adapters.Default && !assigned {
			controller = scenario.Bundled
		}
	case assigned && !strings.Contains(name, "/"):
		return s, fmt.Errorf("there is no adapter %s; %s", name, specfile.Choose(name, "adapters", adapters.Names()))
	default:
		controller = text
		s.Name = nameFrom(strings.TrimPrefix(text, scenario.ImagePrefix))
	}
	_, missing := os.Stat(controller)
	switch {
	case controller == "", controller == scenario.Bundled, strings.HasPrefix(controller, scenario.ImagePrefix):
	case images && !isAdapter:
		controller = scenario.ImagePrefix + controller
	case strings.Contains(controller, "/") || missing == nil:
		if !images {
			if err := checkProgram(controller); err != nil {
				return s, err
			}
		}
		controller, err = filepath.Abs(controller)
	default:
		known := append(adapters.Names(), scenario.Bundled)
		return s, fmt.Errorf("%s is neither a file nor an adapter; %s", controller, strings.TrimSpace(suggest.DidYouMean(controller, known)+" write "+subjectUsage))
	}
	if image, ok := strings.CutPrefix(controller, scenario.ImagePrefix); ok && err == nil && scenario.IsImageFile(image) {
		image, err = filepath.Abs(image)
		controller = scenario.ImagePrefix + image
	}
	s.Controller = controller
	return s, err
}

// checkProgram returns an error if there is no program at a path.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("the controller cannot be run: %w", err)
	case info.IsDir():
		return fmt.Errorf("the controller cannot be run: %s is a folder; name the file in it", path)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("the controller cannot be run: %s is not executable; chmod +x makes it so", path)
	}
	return nil
}

// set sets one setting of a subject.
func set(s *scenario.Subject, key, value string) (err error) {
	kind, name, _ := strings.Cut(key, ".")
	switch {
	case value == "" && slices.Contains([]string{"nginx", "lua", "template"}, key):
		return fmt.Errorf("%s= names no file; leave the setting out for the default", key)
	case key == "name":
		s.Name, err = value, scenario.CheckSubjectName(value)
	case key == "nginx":
		s.Nginx, err = absolute(value, strings.Contains(value, "/"))
	case key == "lua":
		s.Lua, err = absolute(value, true)
	case key == "template":
		s.Template, err = absolute(value, true)
	case kind == "flag" && name != "":
		s.Flags = scenario.Over(s.Flags, map[string]string{name: value})
	case kind == "config" && name != "":
		s.Config = scenario.Over(s.Config, map[string]string{name: value})
	default:
		keys := []string{"name", "nginx", "lua", "template", "flag.NAME", "config.KEY"}
		return fmt.Errorf("unknown setting %s; %s", key, specfile.Choose(key, "settings", keys))
	}
	return err
}

// together returns a scenario that consists of subjects.
func together(subjects ...scenario.Subject) *scenario.Scenario {
	return &scenario.Scenario{Spec: scenario.Spec{Subjects: subjects}}
}

func absolute(path string, isPath bool) (string, error) {
	if !isPath || path == "" {
		return path, nil
	}
	return filepath.Abs(path)
}

// nameFrom derives the name of a subject from the path of its controller or adapter.
func nameFrom(path string) string {
	return scenario.NameFrom(path, "subject", ".yaml", ".yml", ".tar")
}

// replaceSubjects returns the scenario with the subjects of the command line.
func replaceSubjects(s *scenario.Scenario, with []scenario.Subject, stderr io.Writer) (*scenario.Scenario, error) {
	replaced, err := trial.Replace(s, with)
	if err != nil {
		return nil, err
	}
	if trial.Together(s, with) {
		fmt.Fprintf(stderr, "warning: several subjects of %s run the bundled controller: yours replace all of them, without their flags and expectations\n", s.Name)
		return replaced, nil
	}
	for _, one := range with {
		warnOfDroppedFlags(s, one, stderr)
	}
	return replaced, nil
}

// warnOfDroppedFlags prints the flags of a scenario that a subject in place of the bundled controller
// does not get.
func warnOfDroppedFlags(s *scenario.Scenario, with scenario.Subject, stderr io.Writer) {
	for _, original := range s.Subjects {
		if original.Controller == scenario.Bundled && trial.DropsFlags(original, with) && len(original.Flags) > 0 {
			fmt.Fprintf(stderr, "warning: %s does not get the flags that the scenario gives to subject %s: %s\n",
				with.Name, original.Name, strings.Join(slices.Sorted(maps.Keys(original.Flags)), ", "))
		}
	}
}
