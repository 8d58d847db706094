package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/checkup"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/subject"
)

func adapterCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "adapter",
		Short: "Check that a controller can be a subject",
	}
	command.AddCommand(adapterCheckCommand())
	return command
}

// adapterCheckOptions contains the flags of adapter check.
type adapterCheckOptions struct {
	controller string
	patience   time.Duration
	out        string
	driver     driverFlags
	format     format
}

func adapterCheckCommand() *cobra.Command {
	var o adapterCheckOptions
	command := &cobra.Command{
		Use:   "check ADAPTER[=PATH][,KEY=VALUE…]",
		Short: "Start a controller alone, and check that it does what a run needs",
		Long: `Start a controller alone on a simulated API server, and check that it does what a run needs.

ADAPTER is a name of windtunnel list adapters, or the path of a file; what follows it is
as in --subject of windtunnel run. Prints a line for each point: what was found, or what
is missing.
Exit codes: 0 nothing is missing, 1 something is, 2 the check could not be made, 4 the
driver does not support the controller.`,
		Args: arguments("ADAPTER"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return startingWith(typed, adapters.Names()), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.check(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.controller, "controller", "", "the path of the controller, instead of =PATH (default: the program that the adapter names; for "+adapters.Default+" the bundled controller)")
	flags.DurationVar(&o.patience, "patience", time.Minute, "how long each point may take")
	flags.StringVarP(&o.out, "out", "o", "", "folder for logs (default: none are kept, unless something is missing)")
	o.driver.add(command)
	o.format.add(command)
	return command
}

// adapterChecked is the result of adapter check as JSON.
type adapterChecked struct {
	Adapter    string `json:"adapter"`
	Controller string `json:"controller"`
	OK         bool   `json:"ok"`
	checkup.Report
}

func (o adapterCheckOptions) check(ctx context.Context, what string, stdout, stderr io.Writer) error {
	if o.patience <= 0 {
		return fmt.Errorf("--patience=%v: want more than 0s", o.patience)
	}
	s, a, err := o.parse(what)
	if err != nil {
		return err
	}
	o.driver.unbundled = s.Controller != subject.Bundled
	if err := o.driver.checkBundled(); err != nil {
		return err
	}
	d, err := o.driver.open(ctx)
	if err != nil {
		return err
	}
	switch err := driver.SupportsSubject(d, s); {
	case errors.Is(err, fault.ErrNotHere):
		fmt.Fprintln(stderr, "windtunnel: skipped:", err)
		return exitWith(judge.Skipped)
	case err != nil:
		return err
	}
	dir, discard, err := o.folder()
	if err != nil {
		return err
	}
	report, err := checkup.Do(ctx, checkup.Options{Driver: d, Subject: s, Dir: dir, Patience: o.patience, Done: func(r checkup.Result) {
		fmt.Fprintf(stderr, "%s: %s\n", r.Point, r.Found)
	}})
	if err != nil {
		return errors.Join(err, discard())
	}
	if report.OK() {
		err = discard()
	} else {
		fmt.Fprintln(stderr, "windtunnel: the controller's log is in", dir)
	}
	checked := adapterChecked{Adapter: a.Name, Controller: s.Controller, OK: report.OK(), Report: report}
	if err := errors.Join(err, checked.print(stdout, o.format)); err != nil {
		return err
	}
	return failedUnless(report.OK())
}

// parse reads the argument and --controller.
func (o adapterCheckOptions) parse(what string) (subject.Subject, *adapter.Adapter, error) {
	first, settings, _ := strings.Cut(what, ",")
	name, path, _ := strings.Cut(first, "=")
	a, err := adapters.Find(name)
	if err != nil {
		return subject.Subject{}, nil, err
	}
	if o.controller != "" {
		if path != "" {
			return subject.Subject{}, nil, fmt.Errorf("--controller=%s and =%s: use one of them", o.controller, path)
		}
		first = name + "=" + o.controller
	}
	if settings != "" {
		first += "," + settings
	}
	parsed, err := parseSubject(first, !o.driver.isLocal())
	if err != nil {
		return subject.Subject{}, nil, err
	}
	return subject.Of(together(parsed))[0], a, nil
}

// folder returns the folder for logs, and a function that removes it if it is temporary.
func (o adapterCheckOptions) folder() (dir string, discard func() error, err error) {
	if o.out != "" {
		return o.out, func() error { return nil }, os.MkdirAll(o.out, 0o755)
	}
	dir, err = os.MkdirTemp("", "windtunnel-check-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

func (c adapterChecked) print(out io.Writer, format format) error {
	if format.json() {
		return printJSON(out, c)
	}
	t := newTable()
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"", "point", "what", "found"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, WidthMax: 70, WidthMaxEnforcer: text.WrapSoft}})
	for _, r := range c.Results {
		mark := "ok"
		if !r.OK {
			mark = "--"
		}
		t.AppendRow(table.Row{mark, r.Point, r.What, r.Found})
	}
	for _, n := range c.NotApplicable {
		t.AppendRow(table.Row{"", "n/a", strings.Join(n.Measurements, ", "), n.Why})
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}
