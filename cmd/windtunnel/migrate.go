package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/migrate"
	migratereport "windtunnel.dev/sim/migrate/report"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// migrateOptions contains the flags of migrate.
type migrateOptions struct {
	from          string
	to            []string
	out           string
	manifests     manifestFlags
	installations int
	skipCosts     bool
	length        time.Duration
	driver        driverFlags
	progress      progressFlags
	format        format
}

func migrateCommand() *cobra.Command {
	var o migrateOptions
	command := &cobra.Command{
		Use:   "migrate MANIFESTS… --to CONTROLLER…",
		Short: "Report what changes for your clients if you replace a controller by another",
		Long: `Report what changes for your clients if you replace a controller by another.

MANIFESTS are files, folders, or - for standard input, as for case record: the ingresses
with their services, ConfigMaps and Secrets. Requests are derived from the ingresses. They
are sent to the controller that you leave (--from), and then to each that you may move to
(--to), with simulated pods in place of yours. The report shows which hosts, paths and
annotations are answered differently, the worst for clients first; each with the request,
both answers and the cause. Then rolling updates and new hosts are made on all of them in
turns, with a generated population of the same size, to measure what changes cost.
Writes a folder with the report (migrate.html, migrate.md, migrate.json), the recorded
cases, and the runs that measured costs.
Exit codes: 0 all answers are the same, 1 some differ, 2 the input is bad or no request
follows from it, 3 none differs, but some could not be compared, or a measurement is void or
failed (the report says why), 130 interrupted (the report covers what was finished).`,
		Args: arguments("MANIFESTS…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.skipCosts {
				if err := refuseUnused(cmd.Flags(), "it is that of the changes whose costs are measured, and --skip-costs measures none", "length"); err != nil {
					return err
				}
			}
			return o.migrate(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.from, "from", "ingress-nginx", "the controller that you leave, in the form of --to; ingress-nginx means the bundled one, which behaves the same except for docs/compat.md")
	flags.StringArrayVar(&o.to, "to", nil, "a controller that you may move to (required, several are allowed): "+subjectUsage)
	flags.StringVarP(&o.out, "out", "o", "", "folder for the report (default runs/migrate-TIME)")
	flags.BoolVar(&o.skipCosts, "skip-costs", false, "compare answers only, and do not measure what changes cost")
	flags.IntVar(&o.installations, "installations", min(4*runtime.NumCPU(), mostInstallations), "controllers that are tested at the same time")
	addLength(flags, &o.length)
	o.manifests.add(flags)
	o.driver.add(command)
	o.driver.addController(flags)
	o.progress.add(flags)
	o.format.add(command, markdownFormat)
	return command
}

func (o migrateOptions) migrate(ctx context.Context, paths []string, stdin io.Reader, stdout, stderr io.Writer) error {
	subjects, err := o.subjects()
	if err != nil {
		return err
	}
	if err := o.checkFolder(); err != nil {
		return err
	}
	var plan migrate.Plan
	err = untilDone(ctx, func() (err error) { // large clusters take minutes
		plan, err = o.plan(ctx, paths, stdin, subjects, stderr)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := makeOut(&plan.Dir, "migrate"); err != nil {
		return err
	}
	d, err := migrate.Do(ctx, plan)
	if err != nil {
		return err
	}
	if err := writeFiles(plan.Dir, migrationFiles, d); err != nil {
		return err
	}
	if err := migrationFormats[o.format.chosen](stdout, d); err != nil {
		return err
	}
	if o.format.chosen == textFormat {
		fmt.Fprintln(stdout, filepath.Join(plan.Dir, "migrate.html"))
	}
	if d.Interrupted {
		fmt.Fprintln(stderr, "windtunnel: interrupted; the report covers what was finished")
	}
	return exitWith(d.Outcome())
}

// subjects parses --from and --to. The first subject is that of --from.
func (o migrateOptions) subjects() ([]scenario.Subject, error) {
	if len(o.to) == 0 {
		return nil, errors.New("--to is missing: name a controller to move to: " + subjectUsage)
	}
	names := map[string]string{}
	var all []scenario.Subject
	for n, text := range append([]string{o.from}, o.to...) {
		flag := "--to=" + text
		if n == 0 {
			flag = "--from=" + text
		}
		s, err := parseSubject(text, !o.driver.isLocal())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		if before, taken := names[s.Name]; taken {
			return nil, fmt.Errorf("%s and %s are both named %s: give one another name, as in %s,name=NAME", before, flag, s.Name, flag)
		}
		names[s.Name] = flag
		all = append(all, s)
	}
	return all, o.driver.forSubjectsOf(together(all...)).checkBundled()
}

// plan reads the manifests and opens the drivers. Nothing is started.
func (o migrateOptions) plan(ctx context.Context, paths []string, stdin io.Reader, subjects []scenario.Subject, stderr io.Writer) (migrate.Plan, error) {
	plan := migrate.Plan{Known: knownCaseNames(), Dir: o.out, Say: stderr, Watch: func(cases int) (func(behave.Result), func()) {
		progress := showCaseProgress(stderr, cases, o.progress.plain(stderr))
		return func(r behave.Result) {
			if r.Outcome == behave.Failed { // the two controllers answer differently, which may be fine
				r.Outcome = behave.Differs
			}
			progress.done(r, func() {})
		}, progress.end
	}}
	flags, err := derive.Flags(subjects[0].Flags)
	if err != nil {
		return plan, fmt.Errorf("--from=%s: %w", o.from, err)
	}
	manifests, err := readManifests(paths, stdin)
	if err != nil {
		return plan, err
	}
	if plan.Derived, err = o.manifests.derive(manifests, flags, paths, stderr); err != nil {
		return plan, err
	}
	var sides []migrate.Side
	for n, s := range subjects {
		side, err := o.side(ctx, s)
		if err != nil {
			return plan, fmt.Errorf("%s=%s: %w", []string{"--from", "--to"}[min(n, 1)], append([]string{o.from}, o.to...)[n], err)
		}
		sides = append(sides, side)
	}
	plan.From, plan.To = sides[0], sides[1:]
	if !o.skipCosts {
		plan.Costs = &migrate.Costs{Subjects: subjects, Size: migrate.SizeOf(plan.Derived, manifests), Length: o.length, Watch: o.progress.show(stderr)}
		if plan.Costs.Driver, err = o.driver.forSubjectsOf(together(subjects...)).open(ctx); err != nil {
			return plan, err
		}
		if err := plan.Costs.Check(); err != nil {
			return plan, fmt.Errorf("costs cannot be measured: %w; skip them with --skip-costs", err)
		}
	}
	return plan, nil
}

// side returns a controller with the options for running cases on it.
func (o migrateOptions) side(ctx context.Context, s scenario.Subject) (migrate.Side, error) {
	how := caseSubject{installations: o.installations, driver: o.driver, text: s.Name}
	how.given = subject.Of(together(s))[0]
	d, err := how.openGiven(ctx)
	if err != nil {
		return migrate.Side{}, err
	}
	return migrate.Side{Name: s.Name, Ask: how.target(d, nil).Options}, nil
}

// checkFolder returns an error if the folder that --out names already contains a report or cases.
func (o migrateOptions) checkFolder() error {
	if o.out == "" {
		return nil
	}
	for _, name := range []string{"migrate.json", migrate.CasesDir, migrate.CostsDir} {
		if _, err := os.Stat(filepath.Join(o.out, name)); err == nil {
			return fmt.Errorf("%s has %s already: choose another --out", o.out, name)
		}
	}
	return nil
}

// migrationFormats writes the report, by output format.
var migrationFormats = map[string]func(io.Writer, migratereport.Document) error{
	textFormat: migratereport.Text, jsonFormat: migratereport.JSON, markdownFormat: migratereport.Markdown,
}

// migrationFiles are the files of the report.
var migrationFiles = map[string]func(io.Writer, migratereport.Document) error{
	"migrate.json": migratereport.JSON, "migrate.html": migratereport.HTML, "migrate.md": migratereport.Markdown,
}
