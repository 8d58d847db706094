package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The README lists the commands without --format, and those in which -o is not short for it.
func TestReadmeListsOutputFlags(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	paragraph := regexp.MustCompile(`(?s)\nCommands print text, or JSON with .--format json.(.*?)\.\s+.-o json.(.*?)\.\n\n`).FindStringSubmatch(string(text))
	if paragraph == nil {
		t.Fatal("the README has no paragraph that begins with: Commands print text, or JSON with `--format json`")
	}
	var without, otherwise []string
	for _, command := range leaves(rootCommand()) {
		name := strings.TrimPrefix(command.CommandPath(), "windtunnel ")
		switch short := command.Flags().ShorthandLookup("o"); {
		case command.Flags().Lookup("format") == nil:
			without = append(without, name)
		case short.Name != "format":
			otherwise = append(otherwise, name)
		}
	}
	for what, lists := range map[string][2][]string{
		"without --format":              {without, named(paragraph[1])},
		"with --format, and another -o": {otherwise, named(paragraph[2])},
	} {
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("commands %s: %q, but the README has %q", what, lists[0], lists[1])
		}
	}
}

// leaves returns the commands that are shown in help and have no subcommands that are.
func leaves(command *cobra.Command) (all []*cobra.Command) {
	if command.Hidden || command.Name() == "completion" {
		return nil
	}
	if !command.HasAvailableSubCommands() {
		return []*cobra.Command{command}
	}
	for _, sub := range command.Commands() {
		all = append(all, leaves(sub)...)
	}
	return all
}

// named returns the commands in a sentence, sorted.
func named(sentence string) []string {
	var all []string
	for _, match := range regexp.MustCompile("`([a-z ]+)`").FindAllStringSubmatch(sentence, -1) {
		all = append(all, match[1])
	}
	slices.Sort(all)
	return all
}
