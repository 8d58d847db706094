package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
)

// The output formats of commands.
const (
	textFormat     = "text"
	jsonFormat     = "json"
	markdownFormat = "markdown" // supported by some commands only
)

// format is the flag --format: the output format of a command.
type format struct {
	chosen string
	all    []string
	hint   string // where results are written, if -o does not name that
}

// add adds the flag to a command that already has its other flags. -o and --output are aliases,
// unless the command uses -o for its folder or file. more are formats in addition to text and JSON.
func (f *format) add(command *cobra.Command, more ...string) {
	f.chosen, f.all = textFormat, append([]string{textFormat, jsonFormat}, more...)
	flags := command.Flags()
	short := "o"
	if flags.ShorthandLookup(short) != nil {
		short = ""
	}
	if short != "" && flags.Lookup("out") != nil {
		f.hint = "; --out says where results are written"
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

// Set parses a format. table is the old name of text.
func (f *format) Set(text string) error {
	if text == "table" {
		text = textFormat
	}
	if !slices.Contains(f.all, text) {
		return fmt.Errorf("want %s%s", oneOf(f.all), f.hint)
	}
	f.chosen = text
	return nil
}

func (f *format) String() string { return f.chosen }

// Type returns the name of the value type in the help text.
func (f *format) Type() string { return "format" }

func (f *format) json() bool { return f.chosen == jsonFormat }

// printJSON prints a value as JSON.
func printJSON(out io.Writer, value any) error { return report.Indented(out, value) }

// printPage prints the path of the page that a command wrote, below its text. It prints nothing in
// the other formats, which programs parse.
func printPage(out io.Writer, format format, page string) error {
	if format.chosen != textFormat {
		return nil
	}
	_, err := fmt.Fprintf(out, "\n%s\n", page)
	return err
}

// oneOf joins alternatives, as in: a, b or c.
func oneOf(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// writeFiles writes a document into a folder in several formats. files maps each file name to the
// function that writes the format.
func writeFiles[D any](dir string, files map[string]func(io.Writer, D) error, d D) error {
	for name, write := range files {
		if err := rundir.WriteFile(filepath.Join(dir, name), func(w io.Writer) error { return write(w, d) }); err != nil {
			return err
		}
	}
	return nil
}
