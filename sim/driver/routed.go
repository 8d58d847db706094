package driver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/gateway"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// Translator is an instance whose cluster gets objects with other names than those of the scenario,
// because others use the cluster as well.
type Translator interface {
	Translate(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error)
}

// Routed returns a client that writes objects in the form that an instance serves: unchanged, with
// the names of a Translator or, for a controller of the Gateway API, with Gateways and HTTPRoutes
// in place of ingresses.
func Routed(client *cluster.Client, i Instance) *cluster.Client {
	if t, ok := i.(Translator); ok {
		return client.Translated(t.Translate)
	}
	setup := i.Setup()
	if setup.GatewayClass == nil {
		return client
	}
	return client.Translated(gateways(&setup.Spec, int64(i.Address().Port()), int64(i.TLS().Port())).Translate)
}

func gateways(s *adapter.Spec, http, https int64) gateway.Gateways {
	return gateway.Gateways{Controller: s.GatewayClass.Controller, Namespace: s.Namespace, HTTP: http, HTTPS: https}
}

// Routable returns why an object cannot be given to a subject: HTTPRoutes cannot express the
// ingress, and the subject serves the Gateway API. It returns nil for all other objects.
func Routable(s subject.Subject, object *unstructured.Unstructured) error {
	a, err := adapters.Find(s.Adapter)
	if err != nil || a.GatewayClass == nil {
		return nil //nolint:nilerr // SupportsSubject reports the error
	}
	_, err = gateways(&a.Spec, 80, 443).Translate(object)
	return err
}

// routableAll is Routable for the ingresses of a scenario. It also returns the line of an error.
func routableAll(one subject.Subject, s *scenario.Scenario) (line int, err error) {
	if a, err := adapters.Find(one.Adapter); err != nil || a.GatewayClass == nil {
		return 0, nil //nolint:nilerr // SupportsSubject reports the error
	}
	if err := gateway.CheckAnnotations(s.Population.Annotations); err != nil {
		return 1, fmt.Errorf("the population: %w", err)
	}
	for _, m := range s.Manifests {
		if err := Routable(one, m.Object); err != nil {
			return m.Line, err
		}
	}
	return 0, nil
}
