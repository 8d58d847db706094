package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/sim/behave"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/subject"
)

// caseFolder is the default folder for cases.
const caseFolder = "cases"

func caseCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "case",
		Short: "Check what a controller does, request by request",
	}
	command.AddCommand(caseRunCommand())
	return command
}

// caseRunOptions contains the flags of case run.
type caseRunOptions struct {
	out           string
	installations int
	config        map[string]string
	flags         map[string]string
	driver        driverFlags
}

func caseRunCommand() *cobra.Command {
	var o caseRunOptions
	command := &cobra.Command{
		Use:   "run [FILE|FOLDER…]",
		Short: "Run behaviour cases on a controller",
		Long: `Run behaviour cases on a controller (default: all cases in the folder cases).

Prints a line for each case that fails, with the file, the request, and what was
answered. Cases with the same flags and ConfigMap share a controller.
Exit codes: 0 all cases passed, 1 one failed, 2 the cases could not be run, 3 one is
void (the line says why), 130 interrupted.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "folder for logs (default runs/cases-TIME)")
	flags.IntVar(&o.installations, "installations", 2, "controllers that run at the same time")
	o.driver.add(command)
	o.driver.addController(flags)
	return command
}

func (o caseRunOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	if len(paths) == 0 {
		paths = []string{caseFolder}
	}
	cases, err := loadCases(paths)
	if err != nil {
		return err
	}
	d, err := o.driver.open()
	if err != nil {
		return err
	}
	if o.out == "" {
		o.out = string(rundir.Default("cases", time.Now()))
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	namespace, name, _ := strings.Cut(simulated.ConfigMap, "/")
	began := time.Now()
	results, err := caserun.Do(ctx, caserun.Options{
		Cases: cases, Driver: d,
		Subject:   subject.Subject{Name: "subject", Controller: subject.Bundled, Flags: map[string]string{"sync-rate-limit": "20"}},
		ConfigMap: types.NamespacedName{Namespace: namespace, Name: name},
		Bundled:   !o.driver.replacesController(), Dir: o.out, Installations: o.installations,
		Done: func(r behave.Result) { printCase(stdout, r) },
	})
	counts := map[behave.Outcome]int{}
	for _, r := range results {
		counts[r.Outcome]++
	}
	var parts []string
	for _, outcome := range []behave.Outcome{behave.Passed, behave.Differs, behave.Failed, behave.NoLonger, behave.Void, behave.Skipped} {
		if counts[outcome] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[outcome], outcome))
		}
	}
	fmt.Fprintf(stdout, "%d cases in %.1f s: %s; logs in %s\n", len(cases), time.Since(began).Seconds(), strings.Join(parts, ", "), o.out)
	switch {
	case ctx.Err() != nil:
		return exitWith(judge.Interrupted)
	case err != nil:
		return err
	case counts[behave.Failed]+counts[behave.NoLonger] > 0:
		return exitWith(judge.Failed)
	case counts[behave.Void] > 0:
		return exitWith(judge.Void)
	}
	return nil
}

func printCase(out io.Writer, r behave.Result) {
	if r.Outcome == behave.Passed {
		return
	}
	fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%s: %s %s", r.Case, r.Outcome, r.Reason)))
	for _, failure := range r.Failures {
		fmt.Fprintln(out, "  "+failure.Error())
	}
}

// loadCases reads the cases in files and folders. The error joins the problems of all files.
func loadCases(paths []string) ([]*behave.Case, error) {
	files, err := scenarioFiles(paths)
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	known := behave.Known{Annotations: knownAnnotations(), Config: options.Names()}
	var all []*behave.Case
	var wrong []error
	for _, file := range files {
		c, err := behave.Load(file, known)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, c)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no case in %s", strings.Join(paths, ", "))
	}
	return all, nil
}
