package cluster

import (
	"context"
	"fmt"

	"windtunnel.dev/sim/permission"
)

// The flags by which a controller selects namespaces. They exclude each other.
const (
	watchNamespace = "watch-namespace"
	watchSelector  = "watch-namespace-selector"
)

// createFurther creates the namespaces of a scenario that has several.
func (i *instance) createFurther(ctx context.Context) error {
	for _, name := range i.names.further() {
		if err := i.home.create(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// requireFurther checks that the user may do what a run with several namespaces does, and says what its
// controller may.
func (i *instance) requireFurther(ctx context.Context) error {
	if len(i.names.further()) == 0 {
		return nil
	}
	if err := permission.Require(ctx, i.driver.client, several, "deploy/cluster"); err != nil {
		return fmt.Errorf("the scenario has objects in several namespaces: %w", err)
	}
	i.driver.Tell("the scenario has objects in several namespaces, so the controller of subject " + i.subject.Name +
		" may read the Services, Secrets, ConfigMaps and ingresses of all namespaces while it runs")
	return nil
}

// watchOnly adds the flag for the namespaces of the run to the controller's, unless the scenario's own flags
// name one of them. A selector of the scenario selects only among them.
func (i *instance) watchOnly(flags, own map[string]string) {
	if name, err := i.names.space(own[watchNamespace]); err == nil {
		own[watchNamespace] = name
		return
	}
	if len(i.names.further()) == 0 {
		flags[watchNamespace] = i.home.name()
		return
	}
	flags[watchSelector] = RunLabel + "=" + i.home.run
	if selector := own[watchSelector]; selector != "" {
		own[watchSelector] = selector + "," + flags[watchSelector]
	}
}
