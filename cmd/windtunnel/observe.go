package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	prettytext "github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/observe"
	"windtunnel.dev/sim/observe/notice"
)

// observeLanes are the lanes that an observation may use: those that only read.
var observeLanes = []string{"http", "fresh"}

// observeOptions contains the flags of observe.
type observeOptions struct {
	kubeconfig, context string
	observe             observe.Options
	hosts               []string
	address, tlsAddress string
	format              format
}

func observeCommand() *cobra.Command {
	var o observeOptions
	command := &cobra.Command{
		Use:   "observe",
		Short: "Watch a running ingress-nginx in a live cluster, and report what its changes cost",
		Long: `Watch a running ingress-nginx, or a fork of it, in a live cluster, and report what its
changes cost.

Only reads: the changes of endpoints and ingresses as the API reports them, and the
controllers' metrics (reloads, memory, CPU). With --host and --address, it also sends GET
requests to the hosts that you name, and counts failures by cause; if the answers say
which pod gave them, they show when a change is served. --ephemeral adds a container to
each pod of the controller, which is the only thing that it ever writes: from there, it
sees the generations of workers and their memory. What cannot be seen is listed at the
beginning, and in the report. It ends after --for, or with Ctrl-C, with a folder like that
of windtunnel run. docs/observe.md has the permissions.
Exit codes: 0 observed, 2 there is nothing to observe, 3 the observation is void (the
report says why), 130 interrupted before the observation began.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Context()); err != nil {
				return err
			}
			if err := o.checkUnused(cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.add(command)
	o.format.add(command, markdownFormat)
	completes(command, "lane", observeLanes...)
	return command
}

func (o *observeOptions) add(command *cobra.Command) {
	flags, p := command.Flags(), &o.observe
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: as kubectl finds it, or the pod's own)")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVarP(&p.Namespace, "namespace", "n", "ingress-nginx", "namespace of the controller")
	flags.StringVarP(&p.Selector, "selector", "l", "app.kubernetes.io/name=ingress-nginx,app.kubernetes.io/component=controller", "labels of the controller's pods")
	flags.StringSliceVar(&p.MetricsURLs, "metrics-url", nil, "metrics endpoints of the controllers, instead of those of pods: http://HOST:10254/metrics")
	flags.IntVar(&p.MetricsPort, "metrics-port", 0, "port of the metrics (default: the controller's --healthz-port, or 10254)")
	flags.IntVar(&p.StatusPort, "status-port", 0, "port of nginx's status page (default: the controller's --status-port, or 10246)")
	flags.DurationVar(&p.Every, "every", time.Second, "time between two reads of a controller's metrics")
	flags.StringSliceVar(&p.Follow, "follow", nil, "namespaces whose changes are observed (default: all)")
	flags.StringVar(&p.Class, "class", "", "class of the ingresses to observe (default: all)")
	flags.StringSliceVar(&o.hosts, "host", nil, "hosts to send requests to: shop.example, shop.example/path or https://shop.example")
	flags.StringVar(&o.address, "address", "", "address for requests over HTTP: HOST[:PORT]")
	flags.StringVar(&o.tlsAddress, "tls-address", "", "address for requests over HTTPS: HOST[:PORT]")
	flags.StringVar(&p.PodHeader, "pod-header", "", "response header with the name of the pod that answered (default: that of simulated pods)")
	flags.StringSliceVar(&p.Lanes, "lane", []string{"http"}, "kinds of clients: "+strings.Join(observeLanes, ", "))
	flags.Float64Var(&p.Rate, "rate", 10, "requests per second of each lane, over all hosts; 0: none")
	flags.Float64Var(&p.ProbeRate, "probe-rate", 50, "requests per second while a change of a named host is open; 0: none")
	flags.DurationVar(&p.Length, "for", 0, "how long to observe (default: until interrupted)")
	flags.DurationVar(&p.Settle, "settle", 5*time.Second, "how long to wait until the last changes are served")
	flags.StringVar(&p.Ephemeral, "ephemeral", "", "image with windtunnel, for an ephemeral container that is added to each pod of the controller; its entry stays until the pod ends")
	flags.BoolVar(&p.Bundled, "bundled", false, "the controller is the bundled one, which predict and calibrate support")
	flags.StringVarP(&p.Dir, "out", "o", "", "folder for the results (default runs/observed-TIME)")
}

func (o *observeOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	config, err := liveCluster(o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	o.observe.API = config
	removeEmpty, err := makeOut(&o.observe.Dir, "observed")
	if err != nil {
		return err
	}
	defer removeEmpty()
	o.observe.Started = func(s observe.Sight) { o.printSight(stderr, s) }
	o.observe.Progress = func(p observe.Progress) { printSeen(stderr, p) }
	dir, measured, err := observe.Observe(ctx, o.observe)
	if err != nil {
		return err
	}
	if err := printMeasured(stdout, dir, o.format, measured); err != nil {
		return err
	}
	outcome, _ := measured.Outcome()
	return exitWith(outcome)
}

// checkUnused returns an error if a flag was set that has no effect.
func (o *observeOptions) checkUnused(flags *pflag.FlagSet) error {
	if len(o.hosts) == 0 {
		err := refuseUnused(flags, "requests go only to the hosts of --host: name one, or leave the flag out", "address", "tls-address", "pod-header", "lane", "rate", "probe-rate", "settle")
		if err != nil {
			return err
		}
	}
	if len(o.observe.MetricsURLs) > 0 {
		return refuseUnused(flags, "--metrics-url replaces the ports of pods: leave one of them out", "metrics-port", "status-port")
	}
	return nil
}

// check validates the flags, and parses the hosts and addresses.
func (o *observeOptions) check(ctx context.Context) error {
	p := &o.observe
	if err := cmp.Or(notNegative("for", p.Length), notNegative("settle", p.Settle)); err != nil {
		return err
	}
	for _, flag := range []struct {
		name string
		port int
	}{{"metrics-port", p.MetricsPort}, {"status-port", p.StatusPort}} {
		if flag.port < 0 || flag.port > math.MaxUint16 {
			return fmt.Errorf("--%s=%d is not a port: want 1 to %d", flag.name, flag.port, math.MaxUint16)
		}
	}
	for n, text := range p.MetricsURLs {
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("--metrics-url=%s: want a URL, such as http://HOST:10254/metrics", text)
		}
		if slices.Contains(p.MetricsURLs[:n], text) {
			return fmt.Errorf("--metrics-url=%s is named twice: its controller would count twice", text)
		}
	}
	for _, text := range o.hosts {
		host, err := notice.ParseHost(text)
		if err != nil {
			return fmt.Errorf("--host: %w", err)
		}
		p.Hosts = append(p.Hosts, host)
	}
	for n, lane := range p.Lanes {
		if slices.Contains(p.Lanes[:n], lane) {
			return fmt.Errorf("--lane=%s is named twice: its requests would count twice; raise --rate instead", lane)
		}
		if !slices.Contains(observeLanes, lane) {
			return fmt.Errorf("--lane=%s: an observation only reads; want %s", lane, oneOf(observeLanes))
		}
	}
	var err error
	if p.HTTP, err = addressOf(ctx, o.address, "80"); err != nil {
		return fmt.Errorf("--address=%s: %w", o.address, err)
	}
	if p.HTTPS, err = addressOf(ctx, o.tlsAddress, "443"); err != nil {
		return fmt.Errorf("--tls-address=%s: %w", o.tlsAddress, err)
	}
	switch {
	case len(p.Lanes) == 0:
		return fmt.Errorf("--lane is empty: want %s; --rate=0 sends no requests", oneOf(observeLanes))
	case slices.ContainsFunc(p.Hosts, func(h notice.Host) bool { return !h.TLS }) && !p.HTTP.IsValid():
		return errors.New("--host needs --address: where the controller serves HTTP, as the address of its Service")
	case p.Every < 100*time.Millisecond:
		return fmt.Errorf("--every=%v: want at least 100ms", p.Every)
	}
	return cmp.Or(checkRate("rate", p.Rate), checkRate("probe-rate", p.ProbeRate))
}

// checkRate returns an error if the rate of a flag is out of range, or NaN.
func checkRate(flag string, rate float64) error {
	if rate >= 0 && rate <= 1000 {
		return nil
	}
	return fmt.Errorf("--%s=%v: want 0 to 1000 requests per second", flag, rate)
}

// printSeen prints the counts so far in a line.
func printSeen(out io.Writer, p observe.Progress) {
	fmt.Fprintf(out, "%v  changes %d  requests %d  failed %d\n", p.Took.Round(time.Second), p.Changes, p.Requests, p.Failed)
	if p.Trouble != "" {
		fmt.Fprintf(out, "warning: %s\n", p.Trouble)
	}
}

// addressOf resolves HOST[:PORT]. It returns the zero address for an empty text.
func addressOf(ctx context.Context, text, standardPort string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), standardPort
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() }) // IPv4 first
	return netip.ParseAddrPort(net.JoinHostPort(found[0].Unmap().String(), port))
}

// printSight prints a table of what is observed and what is not.
func (o *observeOptions) printSight(out io.Writer, s observe.Sight) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"what", "observed in", "note"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, WidthMax: 40, WidthMaxEnforcer: prettytext.WrapSoft}, {Number: 3, WidthMax: 50, WidthMaxEnforcer: prettytext.WrapSoft},
	})
	for _, row := range s.Rows {
		from := row.From
		if from == "" {
			from = "NOT OBSERVED"
		}
		t.AppendRow(table.Row{row.What, from, row.Why})
	}
	fmt.Fprintln(out, t.Render())
	length := "until Ctrl-C"
	if o.observe.Length > 0 {
		length = "for " + o.observe.Length.String()
	}
	fmt.Fprintf(out, "observing %s with %s %s\n", o.observe.API.Host, plural.Of(len(o.observe.Hosts), "named host"), length)
}
