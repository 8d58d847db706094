package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/export"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/lua"
)

func luaCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "lua",
		Short: "Export the Lua code of nginx as a starting point for your own",
	}
	command.AddCommand(&cobra.Command{
		Use:   "export DIR",
		Short: "Write the bundled controller's Lua code into a folder",
		Long: `Write the bundled controller's Lua code into a folder.

With --lua-dir=DIR, the controller uses the folder instead of its own code. If you
change nothing, nginx behaves the same. Existing files are not overwritten.
Exit codes: 0 written, 2 not written.`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := export.Files(args[0], lua.FS)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s in %s; ngx_conf_init.lua loads most of the others\n", plural.Of(n, "file"), args[0])
			return nil
		},
	})
	return command
}
