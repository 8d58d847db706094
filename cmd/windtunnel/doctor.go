package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"windtunnel.dev/internal/doctor"
)

func doctorCommand() *cobra.Command {
	var program string
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has for Windtunnel, and what each missing thing switches off",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := useNginx(program); err != nil {
				return err
			}
			var out table.Table
			out.SetOutputMirror(cmd.OutOrStdout())
			out.SetStyle(table.StyleLight)
			out.Style().Format.Header = text.FormatDefault
			out.Style().Options = table.OptionsNoBordersAndSeparators
			out.SetColumnConfigs([]table.ColumnConfig{
				{Number: 3, WidthMax: 45, WidthMaxEnforcer: text.WrapSoft},
				{Number: 4, WidthMax: 30, WidthMaxEnforcer: text.WrapSoft},
			})
			out.AppendHeader(table.Row{"", "what", "found", "its absence switches off"})
			ok := true
			for _, finding := range doctor.Examine(cmd.Context()) {
				mark := "ok"
				if !finding.OK {
					mark = "--"
					ok = ok && !finding.Needed
				}
				out.AppendRow(table.Row{mark, finding.What, finding.Found, finding.Without})
			}
			out.Render()
			if !ok {
				fmt.Fprintln(cmd.OutOrStdout(), "A local run cannot start: mend the lines marked -- that stop it (hack/setup installs nginx).")
				return verdict(exitFailed)
			}
			return nil
		},
	}
	addNginx(command.Flags(), &program)
	return command
}
