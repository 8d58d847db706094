package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"windtunnel.dev/controller/template"
	"windtunnel.dev/internal/plural"
)

func templateCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "template",
		Short: "Export the template of nginx.conf as a starting point for your own",
	}
	command.AddCommand(&cobra.Command{
		Use:   "export DIR",
		Short: "Write the bundled controller's template into a folder, one file per block of nginx.conf",
		Long: `Write the bundled controller's template into a folder, one file per block of nginx.conf.

With --nginx-template=DIR, the controller uses the folder instead of its own template.
If you change nothing, it renders the same nginx.conf. Existing files are not
overwritten.
Exit codes: 0 written, 2 not written.`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := template.Export(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s in %s; nginx.tmpl includes the others\n", plural.Of(n, "file"), args[0])
			return nil
		},
	})
	return command
}
