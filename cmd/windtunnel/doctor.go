package main

import (
	"fmt"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/judge"
)

func doctorCommand() *cobra.Command {
	var format format
	var program string
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine provides, and which features each missing item disables",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := useNginx(program); err != nil {
				return err
			}
			results := doctor.Examine(cmd.Context())
			ok := !slices.ContainsFunc(results, func(r doctor.Result) bool { return r.Needed && !r.OK })
			if format.json() {
				if err := printJSON(cmd.OutOrStdout(), examined{ok, results}); err != nil {
					return err
				}
				return failedUnless(ok)
			}
			out := newTable()
			out.SetColumnConfigs([]table.ColumnConfig{
				{Number: 3, WidthMax: 45, WidthMaxEnforcer: text.WrapSoft},
				{Number: 4, WidthMax: 30, WidthMaxEnforcer: text.WrapSoft},
			})
			out.AppendHeader(table.Row{"", "what", "found", "needed for"})
			for _, result := range results {
				mark := "ok"
				if !result.OK {
					mark = "--"
				}
				out.AppendRow(table.Row{mark, result.What, result.Found, result.Without})
			}
			page := out.Render()
			if !ok {
				page += "\nA local run cannot start: provide the required items that are marked -- (hack/setup installs nginx)."
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), page); err != nil {
				return err
			}
			return failedUnless(ok)
		},
	}
	addNginx(command.Flags(), &program)
	format.add(command)
	return command
}

// examined is the JSON output of doctor.
type examined struct {
	OK      bool            `json:"ok"` // whether a local run can start
	Results []doctor.Result `json:"findings"`
}

// failedUnless returns the error of a failed command, or nil if ok.
func failedUnless(ok bool) error {
	if ok {
		return nil
	}
	return exitWith(judge.Failed)
}
