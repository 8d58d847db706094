package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The output formats of every command that prints something.
const (
	textForm     = "text"
	jsonForm     = "json"
	markdownForm = "markdown" // only some commands have it
)

// form is the flag --format, the output format of a command.
type form struct {
	chosen string
	all    []string
}

// add gives a command the flag, after its other flags: -o and --output stand for
// it, too, unless -o is the command's folder or file. more are forms beside text
// and JSON.
func (f *form) add(command *cobra.Command, more ...string) {
	f.chosen, f.all = textForm, append([]string{textForm, jsonForm}, more...)
	flags := command.Flags()
	short := "o"
	if flags.ShorthandLookup(short) != nil {
		short = ""
	}
	flags.VarP(f, "format", short, "output format: "+strings.Join(f.all, ", "))
	if short != "" {
		flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if name == "output" {
				name = "format"
			}
			return pflag.NormalizedName(name)
		})
	}
	completes(command, "format", f.all...)
}

// Set takes a form; table is the old name of text.
func (f *form) Set(text string) error {
	if text == "table" {
		text = textForm
	}
	if !slices.Contains(f.all, text) {
		return fmt.Errorf("want %s", oneOf(f.all))
	}
	f.chosen = text
	return nil
}

func (f *form) String() string { return f.chosen }

// Type is what the help calls a value.
func (f *form) Type() string { return "form" }

func (f *form) json() bool { return f.chosen == jsonForm }

// printJSON prints a value as JSON.
func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// oneOf formats a choice: a, b or c.
func oneOf(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}
