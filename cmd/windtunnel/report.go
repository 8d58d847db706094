package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/scenario"
)

// The files of a run's folder.
const (
	eventsFile   = "events.jsonl"
	scenarioFile = "scenario.yaml"
	resultFile   = "result.json"
	pageFile     = "report.html"
	markdownFile = "report.md"
	junitFile    = "junit.xml"
	benchFile    = "bench.txt"
)

func reportCommand() *cobra.Command {
	var printed form
	command := &cobra.Command{
		Use:   "report RUN-FOLDER",
		Short: "Make the reports of an earlier run again from its event log",
		Long: `Make the reports of an earlier run again from its event log.

The log of a run that was killed is read as far as it goes; the run is void. An
expectation that cannot be evaluated, such as one that divides by zero, is not met.
Exit code: as that of windtunnel run.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadForeign(filepath.Join(args[0], scenarioFile))
			if err != nil {
				return err
			}
			return writeReport(args[0], s, printed, cmd.OutOrStdout())
		},
	}
	printed.add(command, markdownForm)
	return command
}

// writeReport measures the log in dir, writes the result in all forms beside it
// and prints it in one. The error is a verdict when the news are bad.
func writeReport(dir string, s *scenario.Scenario, printed form, stdout io.Writer) error {
	file, err := readfile.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	result, series, err := measure.From(event.Read(file))
	if err != nil {
		return err
	}
	outcomes, err := judge(s, result)
	if err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		resultFile:   func(w io.Writer) error { return report.JSON(w, result, outcomes) },
		pageFile:     func(w io.Writer) error { return report.HTML(w, result, series, outcomes) },
		markdownFile: func(w io.Writer) error { return report.Markdown(w, result, outcomes) },
		junitFile:    func(w io.Writer) error { return report.JUnit(w, result, outcomes) },
		benchFile:    func(w io.Writer) error { return report.Benchmark(w, result) },
	} {
		if err := writeFile(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	if err := printResult(stdout, dir, printed, result, outcomes); err != nil {
		return err
	}
	return verdictOf(result, outcomes)
}

// printResult prints what a run measured; as text with the place of the page.
func printResult(out io.Writer, dir string, printed form, result measure.Result, outcomes []report.Outcome) error {
	switch printed.chosen {
	case jsonForm:
		return report.JSON(out, result, outcomes)
	case markdownForm:
		return report.Markdown(out, result, outcomes)
	}
	if err := report.Table(out, result, outcomes); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", filepath.Join(dir, pageFile))
	return err
}

// judge checks every expectation that holds for a subject against it.
func judge(s *scenario.Scenario, result measure.Result) ([]report.Outcome, error) {
	var outcomes []report.Outcome
	for i, subject := range result.Subjects {
		all := s.Expect
		if i < len(s.Subjects) {
			all = append(all[:len(all):len(all)], s.Subjects[i].Expect...)
		}
		for _, written := range all {
			compiled, err := expect.Compile(written.Expression)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, written.Line, err)
			}
			verdict, err := compiled.Check(subject)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, written.Line, err)
			}
			outcomes = append(outcomes, report.Outcome{Subject: subject.Name, Verdict: verdict})
		}
	}
	return outcomes, nil
}

// verdictOf is nil when all is as expected. What a void run failed to do says
// nothing of its subject, so void comes before failed.
func verdictOf(result measure.Result, outcomes []report.Outcome) error {
	for _, subject := range result.Subjects {
		if !subject.Valid {
			return verdict(exitVoid)
		}
	}
	for _, outcome := range report.Judged(result, outcomes) {
		if !outcome.OK {
			return verdict(exitFailed)
		}
	}
	return nil
}

// writeFile writes a file whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	if err := file.Chmod(0o644); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
