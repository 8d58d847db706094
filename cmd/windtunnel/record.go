package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/record"
)

// recordOptions contains the flags of record.
type recordOptions struct {
	kubeconfig string
	context    string
	namespaces []string
	length     time.Duration
	hash       bool
	out        string
	format     format
}

func recordCommand() *cobra.Command {
	var o recordOptions
	command := &cobra.Command{
		Use:   "record",
		Short: "Record what happens in a live cluster, to replay it here",
		Long: `Record what happens in a live cluster, to replay it here.

Watches Services, EndpointSlices and Ingresses, and writes nothing to the cluster.
The recording contains the services, the number of pods of each, the hosts that are
routed to them, and each change of endpoints and each new host with its time. It does not
contain addresses, labels, annotations or anything from Secrets; with --hash-names it
does not contain names either. It ends after --for, or with Ctrl-C. If the API server
cannot be read for a while, a warning says so, and the recording counts it.
Exit codes: 0 recorded, 2 the cluster could not be read, or the file exists, 130
interrupted before the recording began.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.record(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: as kubectl finds it)")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "namespaces to follow (default: all)")
	flags.DurationVar(&o.length, "for", 0, "how long to record (default: until interrupted)")
	flags.BoolVar(&o.hash, "hash-names", false, "replace the names of services and hosts by hashes that cannot be guessed")
	flags.StringVarP(&o.out, "out", "o", "recording.jsonl", "the file to write")
	o.format.add(command)
	return command
}

func (o recordOptions) record(ctx context.Context, stdout, stderr io.Writer) error {
	if err := notNegative("for", o.length); err != nil {
		return err
	}
	if _, err := os.Stat(o.out); err == nil {
		return fmt.Errorf("%s already exists: choose another --out", o.out)
	}
	config, err := liveCluster(o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var file *os.File
	var failed error
	recording, err := record.Record(ctx, config, record.Options{
		Namespaces: o.namespaces, Hash: o.hash,
		Began: func(services, pods, hosts int) {
			// Create the file when the recording begins: if that fails, the recording ends at once,
			// and is not lost at its end.
			if file, failed = os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); failed != nil {
				stop()
				return
			}
			fmt.Fprintf(stderr, "recording %s with %s, %s, from %s\n", plural.Of(services, "service"), plural.Of(pods, "pod"), plural.Of(hosts, "host"), config.Host)
			if o.length > 0 {
				time.AfterFunc(o.length, stop)
			}
		},
		Missing: func(namespace string) {
			fmt.Fprintf(stderr, "warning: --namespace: there is no namespace %s in %s; it is recorded if it is created\n", namespace, config.Host)
		},
		Progress: func(took time.Duration, changes int) {
			fmt.Fprintf(stderr, "%v  changes %d\n", took.Round(time.Second), changes)
		},
		Outage: func(why error) {
			fmt.Fprintf(stderr, "warning: %v; changes until it can be read again are recorded late, or not at all\n", why)
		},
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	if err := errors.Join(churn.Write(file, recording), file.Close()); err != nil {
		return err
	}
	summary := recordSummaryOf(o.out, recording)
	if o.format.json() {
		return printJSON(stdout, summary)
	}
	fmt.Fprintf(stdout, "%s: %s in %v\n", summary.File, plural.Of(summary.Changes, "change"), recording.Length.Round(time.Second))
	summary.printOmitted(stdout)
	return nil
}

// recordSummary counts what a recording contains and what it omits, by kind.
type recordSummary struct {
	File    string         `json:"file"`
	Changes int            `json:"changes"`
	Length  time.Duration  `json:"length"` // in nanoseconds
	Left    map[string]int `json:"left"`
}

func recordSummaryOf(file string, r churn.Recording) recordSummary {
	left := map[string]int{} // an object in JSON, even if it is empty
	maps.Copy(left, r.Left)
	return recordSummary{file, len(r.Changes), r.Length, left}
}

func (s recordSummary) printOmitted(out io.Writer) {
	for _, what := range slices.Sorted(maps.Keys(s.Left)) {
		fmt.Fprintf(out, "left out: %s: %d\n", what, s.Left[what])
	}
}
