package step

import (
	"context"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

// certificateTasks returns tasks that give one host after another a new certificate, in its
// Secret.
func certificateTasks(s scenario.Step, in setting, next int) ([]Task, int) {
	var tasks []Task
	for _, issue := range churn.CertificateRotation(in.population, churn.Options{Seed: in.seed, Rate: float64(s.Rate), For: s.For, Start: s.At}) {
		id := next
		tasks = append(tasks, Task{At: issue.At, Do: func(ctx context.Context, c *Cluster) error { return c.renew(ctx, id, issue) }})
		next++
	}
	return tasks, next
}

// renew writes the certificate of an issue to the Secret of its host.
func (c *Cluster) renew(ctx context.Context, id int, issue churn.Issue) error {
	secret, err := cluster.Object(c.population.Secret(issue.Ingress, issue.Number))
	if err != nil {
		return err
	}
	host := issue.Ingress.Host
	change := event.Change{ID: id, Step: scenario.CertificateRotation, Object: cluster.Name(secret), Certificate: &event.Certificate{
		Host: host, Serial: corpus.Serial(host, issue.Number), Old: corpus.Serial(host, issue.Number-1),
	}}
	return c.change(ctx, change, func() (string, error) { return c.client.Put(ctx, secret) })
}
