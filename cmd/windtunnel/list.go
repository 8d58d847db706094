package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"windtunnel.dev/internal/suggest"
)

// entry is one entry of a list.
type entry struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"` // its meaning depends on the list
	File string `json:"file,omitempty"`
	What string `json:"what"`
}

// lists are the available lists, one per line. kind is the heading of their second column.
var lists = []struct {
	name, doc, kind string
	all             func() ([]entry, error)
}{
	{"scenarios", "the files in the folder scenarios", "tier", listScenarios},
	{"cases", "the files in the folder cases", "topic", listCases},
	{"lanes", "kinds of clients, for traffic", "listener", listLanes},
	{"faults", "what a timeline can break", "lasts", listFaults},
	{"measurements", "what expectations can ask for", "type", listMeasurements},
	{"figures", "what compare and ab compare", "kind", listFigures},
	{"drivers", "where subjects run", "", listDrivers},
	{"adapters", "the kinds of controllers that can be subjects", "workers", listAdapters},
}

func listCommand() *cobra.Command {
	var format format
	var names, docs []string
	for _, l := range lists {
		names, docs = append(names, l.name), append(docs, fmt.Sprintf("  %-14s%s", l.name, l.doc))
	}
	command := &cobra.Command{
		Use:   "list " + strings.Join(names, "|") + " [NAME…]",
		Short: "List scenarios, cases, lanes, faults, measurements, figures, drivers or adapters",
		Long:  "List the entries of a list, or only those with the given names:\n\n" + strings.Join(docs, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("name what to list: %s", oneOf(names))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return startingWith(typed, names), cobra.ShellCompDirectiveNoFileComp
			}
			return startingWith(typed, entryNames(args[0])), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, l := range lists {
				if l.name == args[0] {
					all, err := l.all()
					if err == nil {
						all, err = selectEntries(args[0], all, args[1:])
					}
					if err != nil {
						return err
					}
					return printEntries(cmd.OutOrStdout(), format, l.kind, all)
				}
			}
			return fmt.Errorf("unknown list %s: want %s", args[0], oneOf(names))
		},
	}
	format.add(command)
	return command
}

// entryNames returns the names in a list. It returns none if the list does not exist.
func entryNames(list string) []string {
	var names []string
	for _, l := range lists {
		if l.name != list {
			continue
		}
		all, _ := l.all() // unreadable entries are not completed
		for _, one := range all {
			names = append(names, one.Name)
		}
	}
	return names
}

// selectEntries returns the entries with the given names, or all entries if there are no names.
func selectEntries(list string, all []entry, names []string) ([]entry, error) {
	if len(names) == 0 {
		return all, nil
	}
	var some []entry
	for _, name := range names {
		i := slices.IndexFunc(all, func(l entry) bool { return l.Name == name })
		if i < 0 {
			mend := "see windtunnel list " + list
			if question := suggest.DidYouMean(name, entryNames(list)); question != "" {
				mend = question + " (" + mend + ")"
			}
			return nil, fmt.Errorf("there is no %s in the list of %s: %s", name, list, mend)
		}
		some = append(some, all[i])
	}
	return some, nil
}

func printEntries(out io.Writer, format format, kind string, all []entry) error {
	if format.json() {
		return printJSON(out, all)
	}
	t := newTable()
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"name", kind, "what"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Hidden: kind == ""}, {Number: 3, WidthMax: 90, WidthMaxEnforcer: text.WrapSoft}})
	for _, one := range all {
		t.AppendRow(table.Row{one.Name, one.Kind, one.What})
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}
