package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/predict/calibrate"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/rundir"
)

// calibrateOptions are the flags of calibrate.
type calibrateOptions struct {
	out        string
	force      bool
	validate   bool
	parameters string
	seed       uint64
}

func calibrateCommand() *cobra.Command {
	var o calibrateOptions
	command := &cobra.Command{
		Use:   "calibrate RUNS…",
		Short: "Fit the costs of predictions from runs, or compare predictions with held-out runs",
		Long: `Fit the costs of predictions from runs, or compare predictions with held-out runs.

RUNS are folders of runs, or folders of such folders, of the bundled controller and of one
machine. The costs of the control loop are fitted from their logs, with 95 % intervals
from a bootstrap over the runs, and written to a parameter file for windtunnel predict. A
file that exists is kept, unless --force is given: it may have the errors of --validate.
Runs that are void, or whose scenario the simulation does not know, are left out.

With --validate, RUNS are held-out runs. Each is predicted from its scenario with the
parameters, and compared with what was measured. The errors are written into the
parameter file, so that windtunnel predict prints them with each answer, and a page
with every figure of every run is printed, or written to --out.
Exit codes: 0 fitted or compared, 2 no run can be used.`,
		Args: arguments("RUNS…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkMode(cmd.Flags()); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			runs, skipped, err := calibrate.Read(args)
			if err != nil {
				return err
			}
			for _, why := range skipped {
				fmt.Fprintln(cmd.ErrOrStderr(), "left out:", why)
			}
			if len(runs) == 0 {
				return errors.New("no run can be used")
			}
			if o.validate {
				return o.compare(cmd.OutOrStdout(), runs)
			}
			return o.fit(cmd.OutOrStdout(), runs)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "file to write: the parameters, or with --validate the page (default: parameters.yaml, or the standard output)")
	flags.BoolVar(&o.force, "force", false, "replace the file to write if it exists")
	flags.BoolVar(&o.validate, "validate", false, "compare predictions with the runs instead of fitting costs")
	flags.StringVar(&o.parameters, "parameters", "parameters.yaml", "with --validate: the parameter file")
	flags.Uint64Var(&o.seed, "seed", 1, "without --validate: seed of the bootstrap")
	return command
}

// checkMode returns an error if a flag was set that has no effect with, or without, --validate.
func (o *calibrateOptions) checkMode(flags *pflag.FlagSet) error {
	switch {
	case !o.validate && flags.Changed("parameters"):
		return errors.New("--parameters names the file that --validate compares with: add --validate, or name the file to write with --out")
	case o.validate && o.force && o.out == "":
		return errors.New("--force replaces the file of --out: name it, or leave --force out")
	case o.validate:
		return refuseUnused(flags, "--validate fits nothing, so there is no bootstrap", "seed")
	}
	return nil
}

// check sets the default of --out, and returns an error if the file to write exists, unless --force
// is given. The parameter file that --validate updates must exist.
func (o *calibrateOptions) check() error {
	if o.out == "" && !o.validate {
		o.out = "parameters.yaml"
	}
	if o.out == "" || o.force {
		return nil
	}
	switch _, err := os.Stat(o.out); {
	case err == nil:
		return fmt.Errorf("%s already exists: choose another --out, or replace it with --force", o.out)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func (o *calibrateOptions) fit(stdout io.Writer, runs []calibrate.Run) error {
	p, err := calibrate.Fit(runs, o.seed)
	if err != nil {
		return err
	}
	if err := writeParameters(o.out, p); err != nil {
		return err
	}
	if err := calibrate.Costs(stdout, p); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\n%s\n", o.out)
	return err
}

func (o *calibrateOptions) compare(stdout io.Writer, runs []calibrate.Run) error {
	p, err := costs.Load(o.parameters)
	if err != nil {
		return err
	}
	all, validation := calibrate.Validate(runs, p)
	p.Validation = validation
	if err := writeParameters(o.parameters, p); err != nil {
		return err
	}
	if o.out == "" {
		return calibrate.Markdown(stdout, all, validation)
	}
	file, err := os.Create(o.out)
	if err != nil {
		return err
	}
	if err := errors.Join(calibrate.Markdown(file, all, validation), file.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s compared: %s\n", plural.Of(len(runs), "run"), o.out)
	return err
}

// writeParameters writes a parameter file. The parameters get the file's name, without its extension.
func writeParameters(path string, p *costs.Parameters) error {
	text, err := p.Marshal(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return rundir.WriteText(path, text)
}
