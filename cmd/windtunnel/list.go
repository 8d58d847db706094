package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"windtunnel.dev/docs"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/traffic"
)

// listed is one entry of a list.
type listed struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"` // its meaning depends on the list
	File string `json:"file,omitempty"`
	What string `json:"what"`
}

// lists are the available lists, one per line. kind is the heading of their second column.
var lists = []struct {
	name, doc, kind string
	all             func() ([]listed, error)
}{
	{"scenarios", "the files in the folder scenarios", "tier", listScenarios},
	{"lanes", "kinds of clients, for traffic", "door", listLanes},
	{"faults", "what a timeline can break", "lasts", listFaults},
	{"measurements", "what expectations can ask for", "type", listMeasurements},
	{"figures", "what compare and ab compare", "kind", listFigures},
	{"drivers", "where subjects run", "", listDrivers},
	{"adapters", "what can be a subject's controller", "", listAdapters},
}

func listCommand() *cobra.Command {
	var format format
	var names, docs []string
	for _, l := range lists {
		names, docs = append(names, l.name), append(docs, fmt.Sprintf("  %-14s%s", l.name, l.doc))
	}
	command := &cobra.Command{
		Use:   "list " + strings.Join(names, "|") + " [NAME…]",
		Short: "List scenarios, lanes, faults, measurements, figures, drivers or adapters",
		Long:  "List the entries of a kind; with names, only those:\n\n" + strings.Join(docs, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("say what to list: %s", oneOf(names))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return startingWith(typed, names), cobra.ShellCompDirectiveNoFileComp
			}
			return startingWith(typed, namesListed(args[0])), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, l := range lists {
				if l.name == args[0] {
					all, err := l.all()
					if err == nil {
						all, err = chosen(args[0], all, args[1:])
					}
					if err != nil {
						return err
					}
					return printListed(cmd.OutOrStdout(), format, l.kind, all)
				}
			}
			return fmt.Errorf("unknown list %s: want %s", args[0], oneOf(names))
		},
	}
	format.add(command)
	return command
}

// namesListed returns the names in one list; none if there is no such list.
func namesListed(list string) []string {
	var names []string
	for _, l := range lists {
		if l.name != list {
			continue
		}
		all, _ := l.all() // what cannot be read is not completed
		for _, one := range all {
			names = append(names, one.Name)
		}
	}
	return names
}

// chosen returns the entries with the names, or all.
func chosen(list string, all []listed, names []string) ([]listed, error) {
	if len(names) == 0 {
		return all, nil
	}
	var some []listed
	for _, name := range names {
		i := slices.IndexFunc(all, func(l listed) bool { return l.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no %s among the %s: windtunnel list %s", name, list, list)
		}
		some = append(some, all[i])
	}
	return some, nil
}

func printListed(out io.Writer, format format, kind string, all []listed) error {
	if format.json() {
		return printJSON(out, all)
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"name", kind, "what"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Hidden: kind == ""}, {Number: 3, WidthMax: 90, WidthMaxEnforcer: text.WrapSoft}})
	for _, one := range all {
		t.AppendRow(table.Row{one.Name, one.Kind, one.What})
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}

func listScenarios() ([]listed, error) {
	all, err := scenarios([]string{scenarioFolder}, "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: run this where the folder %s is, as in a checkout of Windtunnel", err, scenarioFolder)
	}
	if err != nil {
		return nil, err
	}
	var found []listed
	for _, s := range all {
		found = append(found, listed{s.Name, s.Tier, s.File, s.Summary})
	}
	return found, nil
}

func listLanes() ([]listed, error) {
	var all []listed
	for _, name := range traffic.Lanes() {
		all = append(all, listed{Name: name, Kind: traffic.DoorOf(name).String(), What: traffic.DocOf(name)})
	}
	return all, nil
}

func listFaults() ([]listed, error) {
	var all []listed
	for _, f := range fault.All() {
		lasts := "no"
		if f.Lasts {
			lasts = "yes"
		}
		all = append(all, listed{Name: f.Name, Kind: lasts, What: f.Doc})
	}
	return all, nil
}

func listFigures() ([]listed, error) {
	var all []listed
	for _, f := range measure.Figures() {
		all = append(all, listed{Name: f.Name, Kind: string(f.Kind), What: f.Doc})
	}
	return all, nil
}

func listDrivers() ([]listed, error) {
	var all []listed
	for _, d := range drivers {
		all = append(all, listed{Name: d.name, What: d.where})
	}
	return all, nil
}

// listAdapters lists the kinds of controllers; today all of them are compatible with
// ingress-nginx. An adapter for another controller would be one more row.
func listAdapters() ([]listed, error) {
	var all []listed
	for _, k := range subject.Kinds() {
		all = append(all, listed{Name: k.Name, What: k.Doc})
	}
	return all, nil
}

// listMeasurements lists the fields of a subject, by the names that expectations
// use, as the schema of result.json describes them.
func listMeasurements() ([]listed, error) {
	var schema struct {
		Defs map[string]*definition `json:"$defs"`
	}
	if err := json.Unmarshal(docs.ResultSchema, &schema); err != nil {
		return nil, fmt.Errorf("docs/result.schema.json: %w", err)
	}
	return fieldsOf(schema.Defs, "Subject", "", ""), nil
}

// definition is as much of a JSON Schema as says what a field is.
type definition struct {
	Ref         string      `json:"$ref"`
	Type        string      `json:"type"`
	Format      string      `json:"format"`
	Description string      `json:"description"`
	Items       *definition `json:"items"`
	Properties  fields      `json:"properties"`
}

// fieldsOf are the fields of a type, and those of the types within. about is what
// the whole is, for a field that says nothing of its own.
func fieldsOf(types map[string]*definition, name, prefix, about string) []listed {
	var all []listed
	for _, field := range types[name].Properties {
		what := cmp.Or(strings.Join(strings.Fields(field.Description), " "), about)
		if inner := strings.TrimPrefix(field.Ref, "#/$defs/"); inner != "" {
			all = append(all, fieldsOf(types, inner, prefix+field.name+".", cmp.Or(field.Description, oneLineOf(types[inner])))...)
			continue
		}
		all = append(all, listed{Name: prefix + field.name, Kind: field.kind(), What: what})
	}
	return all
}

// oneLineOf is the first sentence of what a type is.
func oneLineOf(d *definition) string {
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(d.Description), " "), ". ")
	return sentence
}

func (d definition) kind() string {
	switch {
	case d.Format == "nanoseconds":
		return "duration"
	case d.Type == "array" && d.Items != nil:
		return "list"
	case d.Type == "object":
		return "map"
	}
	return d.Type
}

// fields are the properties of an object in the order of the file.
type fields []field

type field struct {
	definition
	name string
}

func (f *fields) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := decoder.Token(); err != nil { // {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		one := field{name: fmt.Sprint(name)}
		if err := decoder.Decode(&one.definition); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}
