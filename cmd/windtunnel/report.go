package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
)

func reportCommand() *cobra.Command {
	var format format
	command := &cobra.Command{
		Use:   "report RUN-FOLDER",
		Short: "Recompute the reports of an earlier run from its event log",
		Long: `Recompute the reports of an earlier run from its event log.

The log of a run that was killed is read up to its end; the run is void. An
expectation that cannot be evaluated, such as one that divides by zero, is not met.
Exit codes: those of windtunnel run.`,
		Args: arguments("RUN-FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := rundir.Dir(args[0])
			s, err := loadForAnyController(dir.File(rundir.Scenario))
			if err != nil {
				return notRunFolder(dir, err)
			}
			measured, err := dir.Measure(s)
			if err != nil {
				return err
			}
			if err := printMeasured(cmd.OutOrStdout(), dir, format, measured); err != nil {
				return err
			}
			outcome, _ := measured.Outcome()
			return exitWith(outcome)
		},
	}
	format.add(command, markdownFormat)
	return command
}

// notRunFolder returns the error that a path is not the folder of a run.
func notRunFolder(dir rundir.Dir, err error) error {
	return fmt.Errorf("%s is not the folder of a run: %w", dir, err)
}

// printMeasured prints the measurements of a run. The text format includes the path of the HTML
// page.
func printMeasured(out io.Writer, dir rundir.Dir, format format, m rundir.Measured) error {
	switch format.chosen {
	case jsonFormat:
		return report.JSON(out, m.Result, m.Checks)
	case markdownFormat:
		return report.Markdown(out, m.Result, m.Series, m.Checks)
	}
	if err := report.Table(out, m.Result, m.Series, m.Checks); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", dir.File(rundir.Page))
	return err
}
