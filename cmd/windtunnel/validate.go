package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
)

// validators check files by kind without running anything, one per line.
var validators = map[string]func(path string, text []byte) (warnings []scenario.Problem, err error){
	scenario.Kind: func(path string, text []byte) ([]scenario.Problem, error) {
		s, err := scenario.LoadAs(path, text, knownNames())
		if err != nil {
			return nil, err
		}
		return s.Warnings, run.Check(s, s.Seed, nil)
	},
	adapter.Kind: func(path string, text []byte) ([]scenario.Problem, error) {
		_, err := adapter.Parse(path, text)
		return nil, err
	},
	behave.Kind: func(path string, text []byte) ([]scenario.Problem, error) {
		_, err := behave.Parse(path, text, knownCaseNames())
		return nil, err
	},
	question.Kind: func(path string, text []byte) ([]scenario.Problem, error) {
		_, err := question.Parse(path, text)
		return nil, err
	},
	costs.Kind: func(path string, text []byte) ([]scenario.Problem, error) {
		_, err := costs.Parse(path, text)
		return nil, err
	},
}

// validatedFile is one file and its problems.
type validatedFile struct {
	File     string    `json:"file"`
	Kind     string    `json:"kind"`              // kind of the first document; empty if it has none
	Skipped  string    `json:"skipped,omitempty"` // why the file was not checked
	Problems []problem `json:"problems"`
	Warnings []problem `json:"warnings,omitempty"` // possible problems
}

// problem is one problem of a file.
type problem struct {
	Line int    `json:"line,omitempty"` // from 1; 0: the file as a whole
	What string `json:"what"`
	Mend string `json:"mend,omitempty"`
}

func validateCommand() *cobra.Command {
	var format format
	command := &cobra.Command{
		Use:   "validate FILE|FOLDER…",
		Short: "Check files of scenarios, cases, adapters and questions without running them",
		Long: `Check files of scenarios, behaviour cases, adapters and questions without running them.

Prints all problems of all files, one per line: FILE:LINE: what is wrong; how to fix it.
In a folder, checks all YAML files, including those in subfolders. Files there that are of
another kind, such as manifests of Kubernetes, are named as skipped.
Exit codes: 0 all files are valid, 2 a file is not, or there is none.`,
		Args:              arguments("FILE|FOLDER…"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return validate(cmd.OutOrStdout(), format, args)
		},
	}
	format.add(command)
	return command
}

func validate(out io.Writer, format format, paths []string) error {
	var all []validatedFile
	for _, path := range paths {
		files, err := scenarioFiles([]string{path})
		if err == nil && len(files) == 0 {
			err = errors.New("the folder contains no YAML file")
		}
		if err != nil {
			all = append(all, validatedFile{File: path, Problems: problemsOf(err)})
		}
		named := len(files) == 1 && files[0] == path
		found := checkFiles(files, named)
		if len(found) > 0 && !slices.ContainsFunc(found, func(v validatedFile) bool { return v.Skipped == "" }) {
			found = append(found, validatedFile{File: path, Problems: []problem{{What: "the folder contains no file with apiVersion: " + scenario.APIVersion}}})
		}
		all = append(all, found...)
	}
	bad := 0
	for _, v := range all {
		bad += len(v.Problems)
	}
	if err := printValidated(out, format, all, bad); err != nil {
		return err
	}
	if bad > 0 {
		return exitWith(judge.NotRun)
	}
	return nil
}

// checkFiles validates files. Files of other kinds are skipped, unless the user named them.
func checkFiles(files []string, named bool) (all []validatedFile) {
	for _, file := range files {
		all = append(all, check(file, named))
	}
	return all
}

// check validates a file according to its kind. A file of another kind is skipped, or is an error if the
// user named it.
func check(path string, named bool) validatedFile {
	v := validatedFile{File: path, Problems: []problem{}}
	text, err := readfile.Read(path, scenario.Largest)
	if err != nil {
		v.Problems = problemsOf(err)
		return v
	}
	head, readable := headOf(text)
	v.Kind = head.Kind
	if validators[head.Kind] == nil && readable && !named && !head.ours() {
		v.Skipped = head.foreign()
		return v
	}
	validator, known := validators[v.Kind]
	if !known {
		validator = validators[scenario.Kind] // it reports how a file must begin
	}
	warnings, err := validator(path, text)
	v.Problems = append(v.Problems, problemsOf(err)...)
	for _, w := range warnings {
		v.Warnings = append(v.Warnings, problem{w.Line, w.What, w.Mend})
	}
	return v
}

// head has the fields of the first document that say what a file is.
type head struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
}

// headOf reads the head of a file. It is empty if the first document has no such fields. A file
// that is not YAML is not readable: its validator reports the error.
func headOf(text []byte) (h head, readable bool) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return head{}, false
	}
	_ = document.Decode(&h)
	return h, true
}

// ours reports whether the file's API group is that of Windtunnel.
func (h head) ours() bool {
	group, _, _ := strings.Cut(scenario.APIVersion, "/")
	return h.APIVersion == group || strings.HasPrefix(h.APIVersion, group+"/")
}

// foreign describes a file that is not ours.
func (h head) foreign() string {
	if h.APIVersion == "" || h.Kind == "" {
		return "it has no apiVersion and kind of Windtunnel"
	}
	return fmt.Sprintf("it is a %s of %s, not a file of Windtunnel", h.Kind, h.APIVersion)
}

// problemsOf splits a joined error into its problems.
func problemsOf(err error) []problem {
	var several interface{ Unwrap() []error }
	var one scenario.Problem
	var unread *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &several):
		var all []problem
		for _, part := range several.Unwrap() {
			all = append(all, problemsOf(part)...)
		}
		return all
	case errors.As(err, &one):
		return []problem{{one.Line, one.What, one.Mend}}
	case errors.As(err, &unread):
		return []problem{{What: unread.Err.Error()}}
	}
	return []problem{{What: err.Error()}}
}

func printValidated(out io.Writer, format format, all []validatedFile, problems int) error {
	if format.json() {
		return printJSON(out, all)
	}
	skipped := 0
	for _, v := range all {
		if v.Skipped != "" {
			skipped++
			fmt.Fprintf(out, "skipped: %s: %s\n", v.File, v.Skipped)
		}
		for _, p := range v.Problems {
			fmt.Fprintln(out, v.line(p))
		}
		for _, p := range v.Warnings {
			fmt.Fprintln(out, "warning:", v.line(p))
		}
	}
	summary := fmt.Sprintf("%s: %s", plural.Of(len(all)-skipped, "file"), plural.Of(problems, "problem"))
	if skipped > 0 {
		summary += fmt.Sprintf("; %d skipped", skipped)
	}
	_, err := fmt.Fprintln(out, summary)
	return err
}

// line formats a problem like a compiler error.
func (v validatedFile) line(p problem) string {
	if p.Line == 0 {
		return v.File + ": " + p.What
	}
	return scenario.Problem{File: v.File, Line: p.Line, What: p.What, Mend: p.Mend}.Error()
}
