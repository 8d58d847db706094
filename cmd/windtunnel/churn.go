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

type churnOptions struct {
	kubeconfig, context string
	shape               live.Shape
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

Makes the namespace, services with EndpointSlices and ingresses to them, and then the
changes, of each kind as many a second as --rate says; what they are depends on the seed
alone. Pods are addresses where nobody answers, or with --backends simulated pods in a
Deployment of that image. At the end, or with Ctrl-C, all that was made is removed.
A namespace that is there already is left alone, also one of an earlier run, unless
--yes-touch names it: then nothing in it is written over, and only what was made is
removed. The recording of --out is for windtunnel replay.
Exit codes: 0, or 1 where the API refused a change, 2 for bad input, 130 when interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.churn(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the cluster's (default: as kubectl finds it, or the pod's own)")
	flags.StringVar(&o.context, "context", "", "of the kubeconfig (default: its current one)")
	p := &o.shape.Population
	flags.StringVarP(&p.Namespace, "namespace", "n", "windtunnel-churn", "namespace to make, and to remove in the end")
	flags.StringVar(&o.touch, "yes-touch", "", "the name of the namespace once more, to use it although it is there")
	flags.StringSliceVar(&o.shape.Kinds, "kind", []string{scenario.RollingUpdate}, "kinds of churn: "+strings.Join(live.Kinds, ","))
	flags.Float64Var(&o.shape.Rate, "rate", 1, "changes a second, of each kind")
	flags.DurationVar(&o.shape.For, "for", time.Minute, "how long")
	flags.Uint64Var(&p.Seed, "seed", 1, "the same makes the same population and changes")
	flags.IntVar(&p.Services, "services", 10, "services")
	flags.IntVar(&p.Pods, "pods", 3, "pods of each service")
	flags.IntVar(&p.Ingresses, "ingresses", 10, "ingresses")
	flags.StringVar(&p.Class, "class", corpus.IngressClass, "class of the ingresses")
	flags.BoolVar(&p.TLS, "tls", false, "give each ingress a certificate")
	flags.StringVar(&o.image, "backends", "", "image with windtunnel, for pods that answer (default: none answers)")
	flags.DurationVar(&o.shape.Drain, "drain", 5*time.Second, "how long a pod that answers goes on when it has left its service")
	flags.BoolVar(&o.keep, "keep", false, "leave what was made")
	flags.BoolVar(&o.dryRun, "dry-run", false, "say what would be written, and write nothing")
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
		lines, err := live.DryRun(ctx, options)
		switch {
		case ctx.Err() != nil:
			return exitWith(judge.Interrupted)
		case err != nil:
			return err
		}
		if o.format.json() {
			return printJSON(stdout, map[string]any{"server": config.Host, "writes": lines})
		}
		fmt.Fprintf(stdout, "would write to %s:\n%s\n", config.Host, strings.Join(lines, "\n"))
		return nil
	}
	var recording *os.File
	if o.out != "" {
		if recording, err = os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil {
			return fmt.Errorf("%w: choose another --out", err)
		}
	}
	p := plan.Population
	options.Began = func(run string) {
		fmt.Fprintf(stderr, "run %s: %s, %s in namespace %s of %s\n", run, plural.Of(len(p.Services), "service"), plural.Of(len(p.Ingresses), "ingress", "ingresses"), p.Namespace, config.Host)
	}
	options.Progress = func(at time.Duration, t live.Tally) {
		fmt.Fprintf(stderr, "%v/%v  changes %d  errors %d  p50 %v  p99 %v\n", at.Truncate(time.Second), o.shape.For, t.Writes, t.Errors, short(t.P50), short(t.P99))
	}
	result, err := live.Churn(ctx, options)
	recorded := recording != nil
	if recorded {
		if unkept := o.keepRecording(recording, result); unkept != nil {
			err, recorded = errors.Join(err, unkept), false
		}
	}
	if result.Run != "" {
		err = errors.Join(err, o.tell(stdout, result, recorded))
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

// keepRecording writes the recording, or removes the file if it is empty.
func (o churnOptions) keepRecording(file *os.File, r live.Result) error {
	if r.Run == "" {
		file.Close()
		return os.Remove(o.out)
	}
	return errors.Join(churn.Write(file, r.Recording), file.Close())
}

// churnSummary is the summary. Times are nanoseconds, from the intent of a change until
// the API took it.
type churnSummary struct {
	Run       string        `json:"run"`
	Changes   int           `json:"changes"`
	Refused   int           `json:"refused"`
	Length    time.Duration `json:"length"`
	P50       time.Duration `json:"p50"`
	P90       time.Duration `json:"p90"`
	P99       time.Duration `json:"p99"`
	Max       time.Duration `json:"max"`
	Behind    time.Duration `json:"behind"` // the largest delay of a change
	LastError string        `json:"lastError,omitempty"`
	Trouble   string        `json:"trouble,omitempty"`
	KeptIn    string        `json:"keptIn,omitempty"` // the namespace, with --keep
	Recording *kept         `json:"recording,omitempty"`
}

// tell prints the summary.
func (o churnOptions) tell(out io.Writer, r live.Result, recorded bool) error {
	c := churnSummary{
		Run: r.Run, Changes: r.Writes, Refused: r.Errors, Length: r.Length,
		P50: r.P50, P90: r.P90, P99: r.P99, Max: r.Max, Behind: r.Behind, LastError: r.LastError, Trouble: r.Trouble,
	}
	if o.keep {
		c.KeptIn = o.shape.Population.Namespace
	}
	if recorded {
		recording := keptOf(o.out, r.Recording)
		c.Recording = &recording
	}
	if o.format.json() {
		return printJSON(out, c)
	}
	c.print(out)
	return nil
}

func (c churnSummary) print(out io.Writer) {
	fmt.Fprintf(out, "run %s: %s in %v, %d of them refused\n", c.Run, plural.Of(c.Changes, "change"), c.Length.Round(time.Second), c.Refused)
	fmt.Fprintf(out, "time until the API accepted a change: p50 %v, p90 %v, p99 %v, max %v\n", short(c.P50), short(c.P90), short(c.P99), short(c.Max))
	if c.Behind > time.Second {
		fmt.Fprintf(out, "up to %v behind the plan: the API server accepts fewer changes per second from one writer\n", short(c.Behind))
	}
	if c.LastError != "" {
		fmt.Fprintf(out, "last refusal: %s\n", c.LastError)
	}
	if c.Trouble != "" {
		fmt.Fprintf(out, "last trouble with pods: %s\n", c.Trouble)
	}
	if c.KeptIn != "" {
		fmt.Fprintf(out, "kept in %s, with the label %s=%s\n", c.KeptIn, live.RunLabel, c.Run)
	}
	if c.Recording != nil {
		fmt.Fprintf(out, "%s: %s\n", c.Recording.File, plural.Of(c.Recording.Changes, "change"))
		c.Recording.tellLeft(out)
	}
}

// short leaves out digits that say nothing.
func short(d time.Duration) time.Duration {
	if d > 100*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
