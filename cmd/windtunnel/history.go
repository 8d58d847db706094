package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/history"
	historyreport "windtunnel.dev/sim/history/report"
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

func historyCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "history",
		Short: "Keep runs of many commits, and find the commits that made figures worse",
	}
	command.AddCommand(historyAddCommand(), endsAtOnce(historyReportCommand()), endsAtOnce(historyCheckCommand()))
	return command
}

// addOptions contains the flags of history add.
type addOptions struct {
	history    string
	commit     string
	repository string
	setup      map[string]string
	keepReport bool
	reportURL  string
}

func historyAddCommand() *cobra.Command {
	var o addOptions
	command := &cobra.Command{
		Use:   "add RUN…",
		Short: "Keep the results of runs in a history",
		Long: `Keep the results of runs in a history.

RUN is the folder of a run, or a folder of such folders. The history keeps their
results, benchmark lines and environments in folders of their own, but not their
events, so it is small enough for a git branch. Each run belongs to a commit: that
of the current folder's repository, unless --commit names another. A run that is already
kept is skipped.
Exit codes: 0 the history has the runs; 2 the input cannot be used; 3 some runs are
void, and were not added.`,
		Args: arguments("RUN…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.add(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.history, "history", "history", "folder of the history")
	flags.StringVar(&o.commit, "commit", "", "the commit that the runs measured (default: HEAD, if no tracked file is modified)")
	addRepository(command, &o.repository)
	flags.StringToStringVar(&o.setup, "setup", nil, "NAME=VALUE: a further property of the machine; runs with other values are not compared")
	flags.BoolVar(&o.keepReport, "keep-report", false, "keep report.html as well, about 250 kB for a run")
	flags.StringVar(&o.reportURL, "report-url", "", "address where the reports of the runs are kept instead")
	command.MarkFlagsMutuallyExclusive("keep-report", "report-url")
	return command
}

func addRepository(command *cobra.Command, path *string) {
	command.Flags().StringVar(path, "repository", "", "folder of the git repository with the commits (default: the current one)")
}

func (o addOptions) add(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	if o.reportURL != "" {
		if _, ok := gitrepo.ParseWeb(o.reportURL); !ok {
			return fmt.Errorf("--report-url=%s: want an address with https or http", o.reportURL)
		}
	}
	var runs []rundir.Dir
	for _, path := range paths {
		found, err := rundir.Find(path)
		if err != nil {
			return err
		}
		runs = append(runs, found...)
	}
	commit, err := o.measured(ctx)
	if err != nil {
		return err
	}
	options := history.Options{Commit: commit, Setup: o.setup, KeepReport: o.keepReport, ReportURL: o.reportURL}
	void := false
	for _, run := range runs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		folder, err := history.Store(o.history).Add(run, options)
		switch {
		case errors.As(err, new(history.VoidError)):
			void = true
			fmt.Fprintln(stderr, "windtunnel:", err)
		case errors.As(err, new(history.KeptError)):
			fmt.Fprintln(stderr, "windtunnel:", err)
		case err != nil:
			return err
		default:
			fmt.Fprintln(stdout, filepath.Join(o.history, folder))
		}
	}
	if void {
		return exitWith(judge.Void)
	}
	return nil
}

// measured returns the commit that the runs measured.
func (o addOptions) measured(ctx context.Context) (gitrepo.Commit, error) {
	repository := gitrepo.Repository(o.repository)
	if o.commit != "" {
		commit, err := repository.Commit(ctx, o.commit)
		if err != nil {
			return commit, fmt.Errorf("--commit: %w; --repository names its repository", err)
		}
		return commit, nil
	}
	commit, err := repository.Commit(ctx, "HEAD")
	if err != nil {
		return commit, fmt.Errorf("which commit did the runs measure? --commit and --repository name it: %w", err)
	}
	modified, err := repository.Modified(ctx)
	if err != nil {
		return commit, err
	}
	if modified {
		return commit, fmt.Errorf("files differ from commit %.10s: name the commit that the runs measured with --commit", commit.Hash)
	}
	return commit, nil
}

// trendOptions contains the flags of history report and history check.
type trendOptions struct {
	compare    compareOptions
	commits    int
	recent     int
	repository string
	url        string
	explained  string
}

func (o *trendOptions) add(command *cobra.Command) {
	flags := command.Flags()
	flags.IntVar(&o.commits, "commits", 200, "number of newest commits that are searched for steps and shown; 0: all, which may take minutes")
	flags.IntVar(&o.recent, "recent", 20, "number of newest commits whose steps are checked; 0: all")
	addRepository(command, &o.repository)
	flags.StringVar(&o.url, "url", "", "page of the repository, for links to commits (default: that of the remote origin)")
	flags.StringVar(&o.explained, "explained", "", "file that explains steps (default: "+projectFile+" of the current folder, if it exists)")
	o.compare.addJudgement(command, trend.Alpha)
}

// document reads a history and finds its steps.
func (o *trendOptions) document(ctx context.Context, path string) (historyreport.Document, error) {
	var none historyreport.Document
	for name, n := range map[string]int{"commits": o.commits, "recent": o.recent} {
		if n < 0 {
			return none, fmt.Errorf("--%s=%d: want 0 or more", name, n)
		}
	}
	options, err := o.compare.options(&scenario.Scenario{})
	if err != nil {
		return none, err
	}
	repository := gitrepo.Repository(o.repository)
	if o.repository != "" {
		if _, err := repository.Run(ctx, "rev-parse", "--git-dir"); err != nil {
			return none, fmt.Errorf("--repository=%s: %w", o.repository, err)
		}
	}
	web := repository.Web(ctx)
	if o.url != "" {
		var ok bool
		if web, ok = gitrepo.ParseWeb(o.url); !ok {
			return none, fmt.Errorf("--url=%s: want an address with https or http", o.url)
		}
	}
	explanations, err := o.explanations()
	if err != nil {
		return none, err
	}
	runs, err := history.Store(path).Runs()
	if err != nil {
		return none, err
	}
	found, err := trend.Of(history.Newest(runs, o.commits), options)
	if err != nil {
		return none, err
	}
	found.Explain(explanations)
	return historyreport.New(found, historyreport.Options{Recent: o.recent, Web: web, Between: between(ctx, repository)}), nil
}

// mostBetween limits the commits that are listed for a step.
const mostBetween = 100

// between returns a function that lists the commits between two commits, as far as the repository
// has them.
func between(ctx context.Context, r gitrepo.Repository) func(from, to string) []gitrepo.Commit {
	return func(from, to string) []gitrepo.Commit {
		commits, err := r.Between(ctx, from, to, mostBetween)
		if err != nil {
			return nil // the repository lacks a commit: a shallow clone, or another repository
		}
		return commits
	}
}

func (o *trendOptions) explanations() ([]trend.Explanation, error) {
	file, text, err := readProject(o.explained)
	if err != nil {
		return nil, fmt.Errorf("reading the explanations: %w", err)
	}
	return trend.ReadExplanations(file, text)
}

func historyReportCommand() *cobra.Command {
	var o trendOptions
	var out string
	command := &cobra.Command{
		Use:   "report HISTORY",
		Short: "Write a site that shows the figures of a history over commits",
		Long: `Write a site that shows the figures of a history over commits.

The site is index.html, which needs no network, and the reports of runs that the
history keeps. history.json and history.md have the same as JSON and Markdown. Runs
that were made on another machine, or with another nginx, driver, seed or scenario
are separate series. A step is where the figure of a series changes by more than its
budget and more than chance explains (E-divisive with a permutation test, with
Bonferroni's correction for the number of series).
Exit codes: 0 the site is written; 2 the input cannot be used.`,
		Args: arguments("HISTORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := o.document(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := writeSite(out, history.Store(args[0]), d); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(out, "index.html"))
			return err
		},
	}
	o.add(command)
	command.Flags().StringVarP(&out, "out", "o", "history-report", "folder of the site")
	return command
}

// historyFiles are the files of a site, with a function that writes each.
var historyFiles = map[string]func(io.Writer, historyreport.Document) error{
	"index.html": historyreport.HTML, "history.json": historyreport.JSON, "history.md": historyreport.Markdown,
}

// writeSite writes the site of a history, with the reports that it keeps.
func writeSite(dir string, store history.Store, d historyreport.Document) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, run := range d.Runs {
		if run.Report != rundir.Page {
			continue
		}
		kept := filepath.Join(string(store), run.Folder, rundir.Page)
		if err := rundir.Copy(kept, filepath.Join(dir, filepath.FromSlash(historyreport.ReportPath(run)))); err != nil {
			return err
		}
	}
	return writeFiles(dir, historyFiles, d)
}

// historyFormats contains a function per output format that writes a document.
var historyFormats = map[string]func(io.Writer, historyreport.Document) error{
	textFormat: historyreport.Text, markdownFormat: historyreport.Markdown, jsonFormat: historyreport.JSON,
}

// historyOutcomes maps the outcomes of a check to those of a trial, which have exit codes.
var historyOutcomes = map[historyreport.Outcome]judge.Outcome{
	historyreport.NoneWorse: judge.Passed,
	historyreport.SomeWorse: judge.Failed,
	historyreport.CannotSay: judge.Void,
}

func historyCheckCommand() *cobra.Command {
	var o trendOptions
	var site string
	command := &cobra.Command{
		Use:   "check HISTORY",
		Short: "Decide whether the newest runs of a history have become worse",
		Long: `Decide whether the newest runs of a history have become worse.

The check fails if a step for the worse at one of the newest commits (--recent) still
lasts and is not explained. The file windtunnel.yaml of the current folder explains
intended steps (docs/history.md). A step at which the machine changed
is not a step for the worse. With --site, it writes the site of history report as well.
Exit codes: 0 nothing has become worse; 1 something has; 2 the input cannot be used;
3 there is no result, because too few commits are measured.`,
		Args: arguments("HISTORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := o.document(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if site != "" {
				if err := writeSite(site, history.Store(args[0]), d); err != nil {
					return err
				}
			}
			if err := historyFormats[o.compare.format.chosen](cmd.OutOrStdout(), d); err != nil {
				return err
			}
			if site != "" {
				if err := printPage(cmd.OutOrStdout(), o.compare.format, filepath.Join(site, "index.html")); err != nil {
					return err
				}
			}
			return exitWith(historyOutcomes[d.Outcome])
		},
	}
	o.add(command)
	command.Flags().StringVar(&site, "site", "", "folder for the site; none is written by default")
	o.compare.format.add(command, markdownFormat)
	return command
}
