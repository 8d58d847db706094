package driver

import (
	"fmt"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/subject"
)

// SetupOf returns the expanded adapter of a subject, for drivers that start the controller in their
// own way. Its paths and ports have no meaning.
func SetupOf(s subject.Subject) (*adapter.Setup, error) {
	a, err := adapters.Find(s.Adapter)
	if err != nil {
		return nil, err
	}
	return a.Expand(adapter.Data{Flags: s.Flags, Config: s.Config})
}

// UnsupportedAdapter implements UnsupportedSubject for drivers that install controllers with their
// own manifests.
func UnsupportedAdapter(s subject.Subject) string {
	if s.Adapter != "" && s.Adapter != adapters.Default {
		return fmt.Sprintf("it installs controllers by manifests for the adapter %s only: use --driver local", adapters.Default)
	}
	return ""
}

// checkAdapter returns an error if a subject's adapter cannot be read, or does not know a setting of
// the subject.
func checkAdapter(s subject.Subject) error {
	a, err := adapters.Find(s.Adapter)
	if err != nil {
		return err
	}
	for _, setting := range []struct{ name, value, field string }{
		{"nginx", s.Nginx, "Nginx"}, {"lua", s.Lua, "Lua"}, {"template", s.Template, "Template"},
	} {
		if setting.value != "" && !a.Uses(setting.field) {
			return fmt.Errorf("the adapter %s does not use %s: remove it", a.Name, setting.name)
		}
	}
	if s.Webhook && a.Webhook == "" {
		return fmt.Errorf("the adapter %s has no webhook that reviews ingresses: remove webhook: true", a.Name)
	}
	if s.Controller == subject.Bundled && a.Name != adapters.Default {
		return fmt.Errorf("the bundled controller is one of the adapter %s, not of %s: name the path of a controller, or remove controller for the program of the adapter", adapters.Default, a.Name)
	}
	return nil
}
