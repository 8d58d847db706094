package driver

import (
	"context"
	"fmt"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// FaultLimiter is a driver that cannot make every fault.
type FaultLimiter interface {
	// UnsupportedFault returns why the driver cannot make the fault of that name; empty: it can.
	UnsupportedFault(fault string) string
}

// ClusterLimiter is a driver that cannot run imported clusters.
type ClusterLimiter interface {
	// UnsupportedCluster returns why it cannot.
	UnsupportedCluster() string
}

// SubjectLimiter is a driver that cannot run every subject.
type SubjectLimiter interface {
	// UnsupportedSubject returns why the driver cannot run a subject; empty: it can.
	UnsupportedSubject(s subject.Subject) string
}

// PodLimiter is a driver that has room for a limited number of pods.
type PodLimiter interface {
	// Room returns nil if there is room for the pods of a run. Otherwise the error shows the arithmetic.
	Room(need backend.Need) error
}

// FlagReader is a driver that can find out which flags a controller has.
type FlagReader interface {
	// LacksFlag reports whether the controller of a subject is known to lack a flag.
	LacksFlag(ctx context.Context, s subject.Subject, flag string) bool
}

// UnsupportedBinary implements UnsupportedSubject for drivers that run controllers as images of an
// engine.
func UnsupportedBinary(s subject.Subject) string {
	if s.Controller != subject.Bundled && !s.IsImage() {
		return "its controller is a binary, but containers run images: write " + subject.ImagePrefix + "NAME, or use --driver local"
	}
	if file := s.ImageFile(); file != "" {
		return fmt.Sprintf("its image is the file %s, but containers run images of an engine: load it (docker load -i %[1]s) and name it, or use --driver local", file)
	}
	return ""
}

// UnsupportedWebhook implements UnsupportedSubject for drivers with a real API server.
func UnsupportedWebhook(s subject.Subject) string {
	if s.Webhook {
		return "its webhook cannot be registered, because the API server is a real one: remove webhook, or use --driver local"
	}
	return ""
}

// controllerOfImage begins the commands of adapters that images can run: their entry point replaces it.
const controllerOfImage = "{{.Controller}}"

// UnsupportedImage implements UnsupportedSubject for drivers that run images with any adapter.
func UnsupportedImage(s subject.Subject) string {
	a, err := adapters.Find(s.Adapter)
	if err == nil && a.Command[0] != controllerOfImage { // SupportsSubject reports an error
		return fmt.Sprintf("the command of the adapter %s does not begin with %s, which an image replaces by its own: run its programs with --driver local", a.Name, controllerOfImage)
	}
	if s.Nginx+s.Lua+s.Template != "" {
		return "its nginx, Lua code and template are those of its image: remove nginx, lua and template, or run a binary with --driver local"
	}
	return ""
}

// Supports returns nil if a driver can run a scenario. Otherwise the error is fault.ErrNotHere and
// says what the driver cannot do, and why.
func Supports(d Driver, s *scenario.Scenario) error {
	subjects := subject.Of(s)
	for _, one := range subjects {
		if err := SupportsSubject(d, one); err != nil {
			return fmt.Errorf("%s: %w", s.File, err)
		}
	}
	if err := supportsCluster(d, s); err != nil {
		return err
	}
	for _, one := range subjects {
		if why := unpublished(one, s.Population.Streams); why != "" {
			return fmt.Errorf("%s: subject %s: %w: %s", s.File, one.Name, fault.ErrNotHere, why)
		}
		if line, err := routableAll(one, s); err != nil {
			return fmt.Errorf("%s:%d: subject %s: %w: %w", s.File, line, one.Name, fault.ErrNotHere, err)
		}
	}
	for _, step := range s.Timeline {
		if err := supportsFault(d, step.Fault); err != nil {
			return fmt.Errorf("%s:%d: fault %s, driver %s: %w", s.File, step.Line, step.Fault, d.Name(), err)
		}
		for _, one := range subjects {
			if why := unbreakable(one, step.Fault); why != "" {
				return fmt.Errorf("%s:%d: fault %s, subject %s: %w: %s", s.File, step.Line, step.Fault, one.Name, fault.ErrNotHere, why)
			}
		}
	}
	return nil
}

// supportsCluster returns nil if a driver and the controllers can run a scenario with an imported
// cluster, or if it has none.
func supportsCluster(d Driver, s *scenario.Scenario) error {
	if s.Population.Cluster == "" {
		return nil
	}
	if limited, ok := d.(ClusterLimiter); ok {
		return s.ClusterError(fmt.Errorf("driver %s: %w: %s", d.Name(), fault.ErrNotHere, limited.UnsupportedCluster()), "use --driver local")
	}
	for _, one := range subject.Of(s) {
		if a, err := adapters.Find(one.Adapter); err == nil && a.GatewayClass != nil {
			return s.ClusterError(fmt.Errorf("subject %s: %w: its controller serves the Gateway API, which lacks what annotations of ingresses say", one.Name, fault.ErrNotHere), "use a controller that serves ingresses, or a generated population")
		}
	}
	return nil
}

// unbreakable returns why a subject has nothing that a fault could break. It returns an empty text
// if the subject has it, or if there is no such fault.
func unbreakable(s subject.Subject, name string) string {
	f, _ := fault.Find(name)
	a, err := adapters.Find(s.Adapter)
	if err != nil {
		return "" // SupportsSubject reports the error
	}
	if workers := a.Processes.Workers; workers != adapter.Titled && (f.Needs == fault.Configuration || f.Needs == fault.Respawn) {
		return fmt.Sprintf("the workers of the adapter %s are %s, and the fault needs %s", a.Name, workers, f.Needs)
	}
	return ""
}

// unpublished returns why a subject cannot serve the TCP and UDP services of a scenario. It returns
// an empty text if it can, or if there are none.
func unpublished(s subject.Subject, streams bool) string {
	a, err := adapters.Find(s.Adapter)
	if err != nil || a.Streams != nil || !streams {
		return "" // SupportsSubject reports the error
	}
	return fmt.Sprintf("the adapter %s publishes no services over plain TCP and UDP", a.Name)
}

// supportsFault returns nil if the driver can make a fault and this process is allowed to.
func supportsFault(d Driver, name string) error {
	f, known := fault.Find(name)
	if !known {
		return nil // no fault, or one that the scenario's check has refused
	}
	if err := f.Allowed(); err != nil {
		return err
	}
	if limited, ok := d.(FaultLimiter); ok {
		if why := limited.UnsupportedFault(name); why != "" {
			return fmt.Errorf("%w: %s", fault.ErrNotHere, why)
		}
	}
	return nil
}

// SupportsSubject returns nil if a driver can run a subject; otherwise an error like that of
// Supports.
func SupportsSubject(d Driver, s subject.Subject) error {
	if err := checkAdapter(s); err != nil {
		return fmt.Errorf("subject %s: %w", s.Name, err)
	}
	if choosy, ok := d.(SubjectLimiter); ok {
		if why := choosy.UnsupportedSubject(s); why != "" {
			return fmt.Errorf("subject %s, driver %s: %w: %s", s.Name, d.Name(), fault.ErrNotHere, why)
		}
	}
	return nil
}
