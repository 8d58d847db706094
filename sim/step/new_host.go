package step

import (
	"context"
	"net/http"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
)

// newHost creates an ingress that routes a host to a service.
func (c *Cluster) newHost(ctx context.Context, change event.Change, host churn.Change, to *service) error {
	ingress, err := cluster.Object(corpus.Ingress{
		Name: host.Host, Host: host.Host, Class: c.population.Class,
		Paths: []corpus.Path{{Prefix: "/", Service: to.Name, Port: to.Backend()}}, Further: host.Paths,
	}.Object(to.Namespace))
	if err != nil {
		return err
	}
	change.Object, change.Host, change.Path = cluster.Name(ingress), host.Host, "/"
	change.Confirmation = &event.Confirmation{Service: to.Key(), Status: http.StatusOK}
	return c.change(ctx, change, func() (string, error) { return c.client.Put(ctx, ingress) })
}
