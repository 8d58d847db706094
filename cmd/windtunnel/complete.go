package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/measure"
)

// completes makes the shell complete the value of a flag from a set of words. In a list, it
// completes the last item.
func completes(command *cobra.Command, flag string, words ...string) {
	completesAs(command, flag, cobra.ShellCompDirectiveNoFileComp, words...)
}

func completesAs(command *cobra.Command, flag string, directive cobra.ShellCompDirective, words ...string) {
	err := command.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var all []string
		for _, word := range words {
			all = append(all, before+word)
		}
		return startingWith(typed, all), directive
	})
	if err != nil {
		panic(err) // a programming error: the flag does not exist, or is registered twice
	}
}

func startingWith(typed string, words []string) []string {
	var all []string
	for _, word := range words {
		if strings.HasPrefix(word, typed) {
			all = append(all, word)
		}
	}
	return all
}

// completeScenarios makes the shell complete scenario arguments: files in the folder scenarios, and
// any other file.
func completeScenarios(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return startingWith(typed, filesBelow(scenarioFolder)), cobra.ShellCompDirectiveDefault
}

// completeCases is completeScenarios for cases. A folder of cases is completed as well.
func completeCases(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	files := filesBelow(caseFolder)
	var all []string
	for _, file := range files {
		all = append(all, filepath.Dir(file), file)
	}
	slices.Sort(all)
	return startingWith(typed, slices.Compact(all)), cobra.ShellCompDirectiveDefault
}

// completeFiles is completeScenarios for files of all kinds.
func completeFiles(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return startingWith(typed, append(filesBelow(scenarioFolder), filesBelow(caseFolder)...)), cobra.ShellCompDirectiveDefault
}

// filesBelow returns the YAML files in a folder; none if it cannot be read.
func filesBelow(folder string) []string {
	files, _ := readfile.Files(folder, ".yaml")
	return files
}

// completeScenario is completeScenarios for a command with a single argument.
func completeScenario(command *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeScenarios(command, args, typed)
}

// figureNames returns the names of all figures, each followed by ending.
func figureNames(ending string) []string {
	var names []string
	for _, figure := range measure.Figures() {
		names = append(names, figure.Name+ending)
	}
	return names
}
