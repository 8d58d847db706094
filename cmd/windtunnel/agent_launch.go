package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

// agentCopyCommand and agentExecCommand start a controller without the file capabilities of its programs, see
// docs/cluster.md.
func agentCopyCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "copy FILE",
		Hidden: true,
		Short:  "Copy this program to FILE",
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return copyProgram(args[0]) },
	}
}

func agentExecCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "exec -- COMMAND [ARGUMENTS]",
		Hidden: true,
		Short:  "Run COMMAND in place of this program",
		Args:   cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := exec.LookPath(args[0])
			if err != nil {
				return err
			}
			return fmt.Errorf("run %s: %w", path, syscall.Exec(path, args, os.Environ())) // returns on errors only
		},
	}
}

// copyProgram copies this program to a file, which is executable.
func copyProgram(file string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
