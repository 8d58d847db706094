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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/record"
)

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
The recording has the services, how many pods each has, the hosts that are routed
to them, and each change of endpoints and each new host with its time. It has no
addresses, labels, annotations or anything of Secrets; with --hash-names no names
either. It ends after --for, or with Ctrl-C.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.record(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the cluster's (default: as kubectl finds it)")
	flags.StringVar(&o.context, "context", "", "of the kubeconfig (default: its current one)")
	flags.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "namespaces to follow (default: all)")
	flags.DurationVar(&o.length, "for", 0, "how long (default: until interrupted)")
	flags.BoolVar(&o.hash, "hash-names", false, "replace the names of services and hosts by hashes that cannot be guessed")
	flags.StringVarP(&o.out, "out", "o", "recording.jsonl", "the file to write")
	o.format.add(command)
	return command
}

func (o recordOptions) record(ctx context.Context, stdout, stderr io.Writer) error {
	if _, err := os.Stat(o.out); err == nil {
		return fmt.Errorf("%s is there already: choose another --out", o.out)
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
			// Not before there is something to write; and not after, for then it would be lost.
			if file, failed = os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); failed != nil {
				stop()
				return
			}
			fmt.Fprintf(stderr, "recording %s with %s, %s, from %s\n", plural.Of(services, "service"), plural.Of(pods, "pod"), plural.Of(hosts, "host"), config.Host)
			if o.length > 0 {
				time.AfterFunc(o.length, stop)
			}
		},
		Changed: tellNow(stderr),
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	if err := errors.Join(churn.Write(file, recording), file.Close()); err != nil {
		return err
	}
	kept := keptOf(o.out, recording)
	if o.format.json() {
		return printJSON(stdout, kept)
	}
	fmt.Fprintf(stdout, "%s: %s in %v\n", kept.File, plural.Of(kept.Changes, "change"), recording.Length.Round(time.Second))
	kept.tellLeft(stdout)
	return nil
}

// kept is what a recording holds, and what it left out, by what it is.
type kept struct {
	File    string         `json:"file"`
	Changes int            `json:"changes"`
	Length  time.Duration  `json:"length"` // nanoseconds
	Left    map[string]int `json:"left"`
}

func keptOf(file string, r churn.Recording) kept {
	return kept{file, len(r.Changes), r.Length, r.Left}
}

func (k kept) tellLeft(out io.Writer) {
	for _, what := range slices.Sorted(maps.Keys(k.Left)) {
		fmt.Fprintf(out, "left out: %d %s\n", k.Left[what], what)
	}
}

// tellNow tells the number of changes, once a second at most.
func tellNow(stderr io.Writer) func(int) {
	var last time.Time
	return func(changes int) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			fmt.Fprintln(stderr, plural.Of(changes, "change"))
		}
	}
}

// liveCluster finds a cluster as kubectl does.
func liveCluster(kubeconfig, context string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w; name it with --kubeconfig", err)
	}
	return config, nil
}
