package controller

import (
	"context"
	"errors"
	"fmt"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/snapshot"
)

// Offline renders, tests and serves configurations as Run does, without a cluster.
type Offline struct {
	input  compile.Input
	target *apply.Target
}

// NewOffline prepares the files below the root of the options, as Run does. The configuration needs
// no clients, listeners and metrics. Without a default certificate in its options, it generates
// one, which differs each time.
func NewOffline(c Config) (*Offline, error) {
	if c.Options.Root == "" {
		return nil, errors.New("rendering offline needs a root directory: without one, it would write to the paths of nginx itself")
	}
	certificate := c.Options.DefaultCertificate
	input, err := prepare(&c)
	if err != nil {
		return nil, err
	}
	if certificate != nil {
		input.Options.DefaultCertificate = certificate
	}
	if c.Template != nil {
		if err := copyIncludes(c.Options, c.Nginx); err != nil {
			return nil, err
		}
	}
	target := apply.New(apply.Options{Nginx: c.Nginx, Layout: layout(c), StatusPort: c.Options.Ports.Status, StreamPort: c.Options.Ports.Stream, Retry: apply.Retry(15)})
	return &Offline{input, target}, nil
}

// Input returns the inputs of configurations besides the cluster.
func (o *Offline) Input() compile.Input { return o.input }

// Refusal describes why nginx -t rejects a configuration.
type Refusal struct {
	Reason   string // nginx's message, with the file and the line
	Line     int    // of nginx.conf; 0 if nginx names none
	LineText string // that line
}

// Test runs nginx -t on the configuration of a cluster. It returns nil if nginx accepts it. An
// error means that the test could not run.
func (o *Offline) Test(ctx context.Context, cluster snapshot.Snapshot) (*Refusal, error) {
	compiled, err := compile.Compile(cluster, o.input)
	if err != nil {
		return nil, fmt.Errorf("rendering: %w", err)
	}
	err = o.target.Try(ctx, compiled.State)
	var rejection *apply.Rejection
	if errors.As(err, &rejection) {
		return &Refusal{Reason: rejection.Unwrap().Error(), Line: rejection.Number(), LineText: rejection.Line()}, nil
	}
	return nil, err
}
