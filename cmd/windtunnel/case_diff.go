package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/diff"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
)

// caseDiffOptions contains the flags of case diff.
type caseDiffOptions struct {
	out     string
	subject caseSubject
	format  format
}

func caseDiffCommand() *cobra.Command {
	var o caseDiffOptions
	command := &cobra.Command{
		Use:   "diff CASES… | RESULT_A RESULT_B",
		Short: "Compare the answers of two controllers, by their effect on clients",
		Long: `Compare the answers of two controllers, by their effect on clients.

CASES are files or folders of cases, such as those of case record: they are run on the
controller that the flags name, and its answers (B) compared with what the cases expect
(A). RESULT_A and RESULT_B are the results of case run (the folder, or its result.json):
nothing is run.
Prints the steps that are answered differently: first those without an answer, then those
with another service, status, redirect, body or header, then differences that only pods
see. Each has the annotation, ConfigMap key or field of the ingress that causes it. The
folder of --out has the differences as diff.json, diff.html and diff.md; if cases are run,
also the results of case run.
Exit codes: 0 no differences, 1 there are some, 2 the cases could not be run or the
results could not be read, 3 no differences, but some cases were not compared, 130
interrupted.`,
		Args:              arguments("CASES…"),
		ValidArgsFunction: completeCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.diff(cmd.Context(), cmd.Flags(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().StringVarP(&o.out, "out", "o", "", "folder for the differences (default runs/diff-TIME if cases are run, none for two results)")
	o.subject.add(command)
	o.format.add(command, markdownFormat)
	return command
}

// ofDiff are the flags of case diff that apply to results. The others say how cases are run.
var ofDiff = []string{"out", "format"}

func (o caseDiffOptions) diff(ctx context.Context, flags *pflag.FlagSet, args []string, stdout, stderr io.Writer) error {
	results := 0
	for _, arg := range args {
		if resultFile(arg) != "" {
			results++
		}
	}
	switch {
	case results == 2 && len(args) == 2:
		if used := changedBesides(flags, ofDiff); used != "" {
			return fmt.Errorf("--%s is for cases that are run, and two results are only compared: leave it out", used)
		}
		return o.ofResults(args[0], args[1], stdout)
	case results > 0:
		return errors.New("want two results, or cases: a result is the folder of case run, or its result.json")
	}
	return o.ofCases(ctx, args, stdout, stderr)
}

// resultFile returns the result file at a path, or "" if there is none.
func resultFile(path string) string {
	if filepath.Ext(path) == ".json" {
		return path
	}
	file := rundir.Dir(path).File(rundir.Result)
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

func (o caseDiffOptions) ofResults(a, b string, stdout io.Writer) error {
	before, errA := readCaseResult(a)
	after, errB := readCaseResult(b)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	d := diff.Of(before, after)
	if o.out != "" {
		if err := os.MkdirAll(o.out, 0o755); err != nil {
			return err
		}
		if err := writeFiles(o.out, diffFiles, d); err != nil {
			return err
		}
	}
	if err := diffFormats[o.format.chosen](stdout, d); err != nil {
		return err
	}
	if o.out != "" {
		if err := printPage(stdout, o.format, filepath.Join(o.out, "diff.html")); err != nil {
			return err
		}
	}
	return exitWith(diffOutcome(d))
}

func readCaseResult(path string) (casereport.Document, error) {
	file, err := readfile.Open(resultFile(path))
	if err != nil {
		return casereport.Document{}, err
	}
	defer file.Close()
	d, err := casereport.ReadJSON(file)
	if err != nil {
		return d, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return d, nil
}

func (o caseDiffOptions) ofCases(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	cases, err := loadCases(paths)
	if err != nil {
		return err
	}
	driver, err := o.subject.open(ctx)
	if err != nil {
		return err
	}
	dir, err := createCaseDir(o.out, "diff")
	if err != nil {
		return err
	}
	target := o.subject.target(driver, cases)
	target.Dir = string(dir)
	document, runErr := target.run(ctx, stderr, func(behave.Result) {})
	d := diff.WithRecorded(document)
	if err := errors.Join(writeCaseReports(dir, document, false), writeFiles(string(dir), diffFiles, d)); err != nil {
		return err
	}
	if err := diffFormats[o.format.chosen](stdout, d); err != nil {
		return err
	}
	if o.format.chosen == textFormat {
		fmt.Fprintln(stdout, dir.File("diff.html"))
	}
	switch outcome := diffOutcome(d); {
	case ctx.Err() != nil:
		return exitWith(judge.Interrupted)
	case runErr != nil && outcome != judge.Failed:
		return exitWith(judge.NotRun)
	default:
		return exitWith(outcome)
	}
}

// diffFormats writes the differences, by output format.
var diffFormats = map[string]func(io.Writer, diff.Document) error{
	textFormat: diff.Text, jsonFormat: diff.JSON, markdownFormat: diff.Markdown,
}

// diffFiles are the files of the differences.
var diffFiles = map[string]func(io.Writer, diff.Document) error{
	"diff.json": diff.JSON, "diff.html": diff.HTML, "diff.md": diff.Markdown,
}

func diffOutcome(d diff.Document) judge.Outcome {
	switch {
	case len(d.Differences) > 0:
		return judge.Failed
	case len(d.NotCompared) > 0:
		return judge.Void
	}
	return judge.Passed
}
