package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"windtunnel.dev/controller/template"
	"windtunnel.dev/internal/export"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/lua"
)

func templateCommand() *cobra.Command {
	return exportCommand(&cobra.Command{
		Use:   "template",
		Short: "Export the template of nginx.conf as a starting point for your own",
	}, &cobra.Command{
		Short: "Write the bundled controller's template into a folder, one file per block of nginx.conf",
		Long: `Write the bundled controller's template into a folder, one file per block of nginx.conf.

With --nginx-template=DIR, the controller uses the folder instead of its own template.
If you change nothing, it renders the same nginx.conf. Existing files are not
overwritten.
Exit codes: 0 written, 2 not written.`,
	}, template.Export, "nginx.tmpl includes the others")
}

func luaCommand() *cobra.Command {
	write := func(folder string) (int, error) { return export.Files(folder, lua.FS) }
	return exportCommand(&cobra.Command{
		Use:   "lua",
		Short: "Export the Lua code of nginx as a starting point for your own",
	}, &cobra.Command{
		Short: "Write the bundled controller's Lua code into a folder",
		Long: `Write the bundled controller's Lua code into a folder.

With --lua-dir=DIR, the controller uses the folder instead of its own code. If you
change nothing, nginx behaves the same. Existing files are not overwritten.
Exit codes: 0 written, 2 not written.`,
	}, write, "ngx_conf_init.lua loads most of the others")
}

// exportCommand completes a command and its subcommand export, which writes files into a folder. write
// returns their number; start says where to start reading.
func exportCommand(parent, export *cobra.Command, write func(folder string) (int, error), start string) *cobra.Command {
	export.Use = "export DIR"
	export.Args = arguments("DIR")
	export.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := write(args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s in %s; %s\n", plural.Of(n, "file"), args[0], start)
		return nil
	}
	parent.AddCommand(export)
	return parent
}
