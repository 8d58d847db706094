package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/live"
	"windtunnel.dev/sim/scenario"
)

// churnOptions contains the flags of churn.
type churnOptions struct {
	kubeconfig, context string
	shape               live.Spec
	touch, image, out   string
	keep, dryRun        bool
	format              format
}

func churnCommand() *cobra.Command {
	var o churnOptions
	command := &cobra.Command{
		Use:   "churn",
		Short: "Change a live cluster as scenarios do, in a namespace of its own",
		Long: `Change a live cluster as scenarios do, in a namespace of its own.

Creates the namespace, services with EndpointSlices, and ingresses that route to them. Then
makes changes: of each kind, --rate per second. The seed alone determines the changes.
Nothing listens at the addresses of the pods; with --backends, a Deployment of that image
runs simulated pods that answer. At the end, or after Ctrl-C, everything that was created
is removed. An existing namespace is not used, not even one of an earlier run, unless
--yes-touch names it: then nothing in it is overwritten, and only what was created is
removed. windtunnel replay reads the recording that --out names.
Exit codes: 0, or 1 if the API refused a change, 2 for bad input, 130 when interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.image == "" {
				if err := refuseUnused(cmd.Flags(), "only the pods of --backends serve: name their image, or leave it out", "drain"); err != nil {
					return err
				}
			}
			if o.dryRun {
				if err := refuseUnused(cmd.Flags(), "--dry-run writes nothing: leave one of them out", "out", "keep"); err != nil {
					return err
				}
			}
			return o.churn(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: as kubectl finds it, or the pod's own)")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig (default: its current one)")
	p := &o.shape.Population
	flags.StringVarP(&p.Namespace, "namespace", "n", "windtunnel-churn", "namespace to create, and to remove at the end")
	flags.StringVar(&o.touch, "yes-touch", "", "use this existing namespace; must equal --namespace")
	flags.StringSliceVar(&o.shape.Kinds, "kind", []string{scenario.RollingUpdate}, "kinds of churn: "+strings.Join(live.Kinds, ","))
	flags.Float64Var(&o.shape.Rate, "rate", 1, "changes per second, of each kind")
	flags.DurationVar(&o.shape.For, "for", time.Minute, "how long to make changes")
	flags.Uint64Var(&p.Seed, "seed", 1, "the same seed gives the same population and changes")
	flags.IntVar(&p.Services, "services", 10, "number of services")
	flags.IntVar(&p.Pods, "pods", 3, "number of pods of each service")
	flags.IntVar(&p.Ingresses, "ingresses", 10, "number of ingresses")
	flags.StringVar(&p.Class, "class", corpus.IngressClass, "class of the ingresses")
	flags.BoolVar(&p.TLS, "tls", false, "give each ingress a certificate")
	flags.StringVar(&o.image, "backends", "", "image that contains windtunnel, to run pods that answer (default: no pod answers)")
	flags.DurationVar(&o.shape.Drain, "drain", 5*time.Second, "how long a pod keeps serving after it is removed from its service")
	flags.BoolVar(&o.keep, "keep", false, "keep what was created")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
	flags.StringVarP(&o.out, "out", "o", "churn.jsonl", "the recording to write; empty: none")
	o.format.add(command)
	completes(command, "kind", live.Kinds...)
	return command
}

func (o churnOptions) churn(ctx context.Context, stdout, stderr io.Writer) error {
	plan, err := live.NewPlan(o.shape)
	if err != nil {
		return err
	}
	config, err := liveCluster(o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	options := live.Options{Config: config, Plan: plan, Touch: o.touch, Image: o.image, Keep: o.keep}
	if o.dryRun {
		return o.printWrites(ctx, stdout, options)
	}
	var recording *os.File
	if o.out != "" {
		if recording, err = os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil {
			return fmt.Errorf("%w: choose another --out", err)
		}
	}
	o.showProgress(&options, stderr)
	result, err := live.Churn(ctx, options)
	recorded := recording != nil
	if recorded {
		if failed := o.keepRecording(recording, result); failed != nil {
			err, recorded = errors.Join(err, failed), false
		}
	}
	if result.Run != "" {
		err = errors.Join(err, o.printSummary(stdout, result, recorded))
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return exitWith(judge.Interrupted)
	case result.Errors > 0:
		return exitWith(judge.Failed)
	}
	return nil
}

// printWrites prints what a run would write to the cluster.
func (o churnOptions) printWrites(ctx context.Context, stdout io.Writer, options live.Options) error {
	lines, err := live.DryRun(ctx, options)
	switch {
	case ctx.Err() != nil:
		return exitWith(judge.Interrupted)
	case err != nil:
		return err
	}
	if o.format.json() {
		return printJSON(stdout, map[string]any{"server": options.Config.Host, "writes": lines})
	}
	_, err = fmt.Fprintf(stdout, "would write to %s:\n%s\n", options.Config.Host, strings.Join(lines, "\n"))
	return err
}

// showProgress sets the callbacks that print the progress of a run.
func (o churnOptions) showProgress(options *live.Options, stderr io.Writer) {
	p, host := options.Plan.Population, options.Config.Host
	options.Began = func(run string) {
		fmt.Fprintf(stderr, "run %s: %s, %s in namespace %s of %s\n", run, plural.Of(len(p.Services), "service"), plural.Of(len(p.Ingresses), "ingress", "ingresses"), p.Namespace, host)
	}
	options.Removing = func() {
		fmt.Fprintf(stderr, "removing what was created in namespace %s\n", p.Namespace)
	}
	options.Progress = func(at time.Duration, t live.Tally) {
		fmt.Fprintf(stderr, "%v/%v  changes %d  errors %d  p50 %v  p99 %v\n", at.Truncate(time.Second), o.shape.For, t.Writes, t.Errors, roundDuration(t.P50), roundDuration(t.P99))
	}
}

// keepRecording writes the recording, or removes the file if it is empty.
func (o churnOptions) keepRecording(file *os.File, r live.Result) error {
	if r.Run == "" {
		file.Close()
		return os.Remove(o.out)
	}
	return errors.Join(churn.Write(file, r.Recording), file.Close())
}
