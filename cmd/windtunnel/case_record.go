package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
)

// caseRecordOptions contains the flags of case record.
type caseRecordOptions struct {
	out       string
	manifests manifestFlags
	subject   caseSubject
	format    format
}

func caseRecordCommand() *cobra.Command {
	var o caseRecordOptions
	command := &cobra.Command{
		Use:   "record MANIFESTS… -o FOLDER",
		Short: "Turn your own manifests into behaviour cases, with what a controller answers",
		Long: `Turn your own manifests into behaviour cases, with what a controller answers.

MANIFESTS are files, folders, or - for standard input: the ingresses with their
services, ConfigMaps and Secrets, such as the output of kubectl get
ingress,svc,endpointslices,cm,secrets -A -o yaml. Other kinds are ignored. The questions
follow from the ingresses: each host, path, redirect, canary, header and limit. The
controller answers them, with simulated pods in place of yours. The folder gets a case
for each group of ingresses that share hosts, which expects the recorded answers;
windtunnel case run FOLDER passes on the same controller. Recording again gives the same
files. No Secret is copied: the cases have generated certificates for the same names,
and passwords of their own.
Prints what is not tested, with the reason.
Exit codes: 0 all cases are recorded, 2 the manifests cannot be read, or no request
follows from them, 3 some cases could not be recorded (their lines say why), 130 interrupted.`,
		Args: arguments("MANIFESTS…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.record(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "the folder for the cases (required)")
	o.manifests.add(flags)
	o.subject.add(command)
	o.format.add(command)
	return command
}

// recordedCase is a case in the summary of a recording.
type recordedCase struct {
	File      string `json:"file,omitempty"` // empty if it could not be recorded
	Case      string `json:"case"`
	Questions int    `json:"questions"`
	Why       string `json:"why,omitempty"` // why it could not be recorded
}

// caseRecording is the summary of a recording.
type caseRecording struct {
	Subject  string            `json:"subject"`
	Took     time.Duration     `json:"took"` // in nanoseconds
	Cases    []recordedCase    `json:"cases"`
	NotAsked []derive.Omission `json:"notAsked"`
}

func (o caseRecordOptions) record(ctx context.Context, paths []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var derived derive.Derived
	err := untilDone(ctx, func() (err error) { // large clusters take minutes
		derived, err = o.derive(paths, stdin, stderr)
		return err
	})
	if err != nil {
		return err
	}
	d, err := o.subject.open(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	recording, err := derive.NewRecording(derived.Cases, o.folder(), knownCaseNames())
	if err != nil {
		return err
	}
	if err := caserun.Repeated(recording.Asked()); err != nil {
		return err
	}
	logs, err := os.MkdirTemp("", "windtunnel-record-")
	if err != nil {
		return err
	}
	began := time.Now()
	target := o.subject.target(d, recording.Asked())
	target.Dir, target.Recorded = logs, recording.Add
	results, runErr := target.do(ctx, stderr, func(behave.Result) {})
	summary := caseRecording{Subject: o.subject.name(), Took: time.Since(began), NotAsked: derived.Omissions}
	lost := 0
	for n, c := range derived.Cases {
		one := recordedCase{Case: c.Name, Questions: len(c.Steps)}
		if complete := recording.Case(n); complete != nil {
			one.File = filepath.Join(o.out, c.Name+".yaml")
			if err := writeCase(one.File, complete); err != nil {
				return err
			}
		} else {
			lost++
			one.Why = cmp.Or(results[n].Reason, "no request was sent")
		}
		summary.Cases = append(summary.Cases, one)
	}
	if err := o.print(stdout, summary); err != nil {
		return err
	}
	if lost > 0 {
		fmt.Fprintln(stderr, "windtunnel: the logs of the controllers are in", logs)
	} else if err := os.RemoveAll(logs); err != nil {
		return err
	}
	return exitWith(recordOutcome(ctx, runErr, lost, len(derived.Cases)))
}

func recordOutcome(ctx context.Context, err error, lost, all int) judge.Outcome {
	switch {
	case ctx.Err() != nil:
		return judge.Interrupted
	case err != nil, lost == all:
		return judge.NotRun
	case lost > 0:
		return judge.Void
	}
	return judge.Passed
}

// derive reads the manifests and derives the questions. A folder that has cases already is an error.
func (o caseRecordOptions) derive(paths []string, stdin io.Reader, stderr io.Writer) (derive.Derived, error) {
	if o.out == "" {
		return derive.Derived{}, errors.New("--out is missing: name a folder for the cases")
	}
	if found, _ := readfile.Glob(o.out, "*.yaml"); len(found) > 0 {
		return derive.Derived{}, fmt.Errorf("%s has YAML files already: choose another --out, or remove them", o.out)
	}
	flags, err := derive.Flags(o.subject.flags)
	if err != nil {
		return derive.Derived{}, fmt.Errorf("--%w", err)
	}
	manifests, err := readManifests(paths, stdin)
	if err != nil {
		return derive.Derived{}, err
	}
	return o.manifests.derive(manifests, flags, paths, stderr)
}

// folder returns the name of the folder of --out. The names of the cases begin with it.
func (o caseRecordOptions) folder() string {
	folder, err := filepath.Abs(o.out)
	if err != nil {
		folder = o.out
	}
	return filepath.Base(folder)
}

func writeCase(path string, c *behave.Case) error {
	text, err := derive.File(c)
	if err != nil {
		return err
	}
	return rundir.WriteText(path, text)
}

func (o caseRecordOptions) print(out io.Writer, s caseRecording) error {
	if o.format.json() {
		return printJSON(out, s)
	}
	return s.print(out)
}

// print prints the omissions, the cases that could not be recorded, and the totals.
func (s caseRecording) print(out io.Writer) error {
	var text strings.Builder
	if len(s.NotAsked) > 0 {
		text.WriteString("not tested:\n")
	}
	for _, o := range s.NotAsked {
		fmt.Fprintf(&text, "  %s: %s%s\n", report.PlainLine(o.What), report.PlainLine(o.Why), objects(o.Objects))
	}
	recorded, questions := 0, 0
	for _, c := range s.Cases {
		if c.Why != "" {
			fmt.Fprintf(&text, "void %s: %s\n", c.Case, report.PlainLine(c.Why))
			continue
		}
		recorded++
		questions += c.Questions
	}
	fmt.Fprintf(&text, "%s with %s in %s\n", plural.Of(recorded, "case"), plural.Of(questions, "step"), report.Seconds(s.Took.Seconds()))
	_, err := io.WriteString(out, text.String())
	return err
}

// objects lists the first objects of an omission, and counts the others.
func objects(names []string) string {
	const shown = 3
	switch {
	case len(names) == 0:
		return ""
	case len(names) > shown:
		return fmt.Sprintf(" (%s and %s)", strings.Join(names[:shown], ", "), plural.Of(len(names)-shown, "other"))
	}
	return " (" + strings.Join(names, ", ") + ")"
}
