package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/suggest"
)

// arguments returns a validator for positional arguments. The names are those of the usage: a name
// in brackets is optional, and one with an ellipsis may be repeated.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		usage := cmd.CommandPath() + " " + strings.Join(names, " ")
		last := names[len(names)-1]
		switch {
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return fmt.Errorf("%s is missing: write %s", strings.TrimSuffix(names[len(args)], "…"), usage)
		case len(args) > len(names) && !strings.HasSuffix(last, "…"):
			return fmt.Errorf("unexpected argument %q: write %s%s", args[len(names)], usage, withoutValue(cmd))
		}
		return nil
	}
}

// withoutValue returns a hint for each flag that was given without its optional value. A surplus
// argument may be meant as that value.
func withoutValue(cmd *cobra.Command) (hint string) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Value.Type() == "string" && flag.NoOptDefVal != "" && flag.Value.String() == flag.NoOptDefVal {
			value, _ := pflag.UnquoteUsage(flag)
			hint += fmt.Sprintf("; a value of --%s follows =, as in --%[1]s=%s", flag.Name, value)
		}
	})
	return hint
}

// wanted describes the values that each pflag type accepts.
var wanted = map[string]string{
	"bool":           "want true or false",
	"duration":       "want a duration with its unit, such as 500ms, 20s or 2m",
	"float64":        "want a number",
	"int":            "want a whole number",
	"intSlice":       "want whole numbers, separated by commas",
	"stringToString": "want NAME=VALUE",
}

// explainFlag adds to a flag error how to fix it.
func explainFlag(cmd *cobra.Command, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		flag, problem := invalid.GetFlag(), invalid.Unwrap().Error()
		if want, known := wanted[flag.Value.Type()]; known && !strings.HasPrefix(problem, "want ") { // our own types already say so
			problem = want
		}
		return fmt.Errorf("--%s=%s: %s", flag.Name, invalid.GetValue(), problem)
	}
	question := ""
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				names = append(names, flag.Name)
			}
		})
		if nearest := suggest.Nearest(unknown.GetSpecifiedName(), names); nearest != "" {
			question = "did you mean --" + nearest + "? "
		}
	}
	return fmt.Errorf("%w; %ssee %s --help", err, question, cmd.CommandPath())
}

// renamed keeps the old name of a flag working. The two names share their value, and the help shows the new
// one. cobra would print the warning of a deprecated flag among the command's output, which may be JSON.
func renamed(flags *pflag.FlagSet, old, name string) {
	alias := *flags.Lookup(name)
	alias.Name, alias.Hidden = old, true
	flags.AddFlag(&alias)
}

// needSubcommands makes commands that only group others return an error when run without a
// subcommand. By default, cobra prints their help and succeeds.
func needSubcommands(commands []*cobra.Command) {
	for _, group := range commands {
		if !group.HasSubCommands() || group.Runnable() {
			continue
		}
		group.Use += " COMMAND"
		group.DisableFlagsInUseLine = true
		group.Args = cobra.ArbitraryArgs // RunE reports them
		group.RunE = func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, one := range cmd.Commands() {
				if one.IsAvailableCommand() {
					names = append(names, one.Name())
				}
			}
			if len(args) == 0 {
				return fmt.Errorf("name a command: %s %s", cmd.CommandPath(), oneOf(names))
			}
			cmd.SuggestionsMinimumDistance = 2
			question := ""
			if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
				question = "did you mean " + oneOf(similar) + "? "
			}
			return fmt.Errorf("unknown command %q for %q; %swant %s", args[0], cmd.CommandPath(), question, oneOf(names))
		}
	}
}
